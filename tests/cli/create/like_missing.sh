bloomery create a.blm --like b.blm
