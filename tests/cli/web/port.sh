bloomery web --port 70000
