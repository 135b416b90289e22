# Their number of probes is fixed: there is no second picture.
export LC_ALL=C.UTF-8
bloomery calc -n 1e6 --memory 1M --kind static --plot
bloomery calc -n 1e6 -p 0.01 --kind cuckoo --plot | sed -n '5,$p'
