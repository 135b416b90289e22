# The textbook's steps do not lead to these.
bloomery calc -n 1e6 --memory 1500K -p 1e-4 --kind window
bloomery calc -n 1e6 --memory 2M --kind cuckoo
bloomery calc -n 1e6 --memory 1500K -p 1e-4 --kind static
bloomery calc -n 1e6 --memory 100K --kind static
