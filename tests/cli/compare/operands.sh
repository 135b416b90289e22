bloomery compare a.blm
bloomery compare a.blm b.blm c.blm
bloomery compare - -
