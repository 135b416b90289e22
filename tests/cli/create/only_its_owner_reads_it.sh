# The seed is in the file.
umask 022
bloomery create a.blm -n 100 -p 0.01
bloomery create b.blm -n 100 -p 0.01 --public
bloomery create c.guava -n 100 -p 0.01 --scheme guava64
stat -c '%a %n' a.blm b.blm c.guava
chmod 640 a.blm
bloomery create a.blm -n 100 -p 0.01 --force
stat -c '%a %n' a.blm
