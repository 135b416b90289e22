bloomery schemes guava
