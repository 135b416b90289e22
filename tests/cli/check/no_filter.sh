bloomery check
