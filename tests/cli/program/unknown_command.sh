bloomery chekc
