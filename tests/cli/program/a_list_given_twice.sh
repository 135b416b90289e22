# The keys of the first list would be missing, silently.
seq 5 >one
seq 6 9 >two
bloomery build f --include one --include two
bloomery build f --include one --exclude two --exclude one
bloomery create f -n 9 --from one --from two
bloomery create g -n 9 --from one --quiet
bloomery check g --except one --except=two one
bloomery convert g f --to guava --members one --members two
bloomery verify g --members one --members two
bloomery verify g --absent one --absent one
ls
