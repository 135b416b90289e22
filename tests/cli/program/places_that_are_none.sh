bloomery info s3://bucket/f
bloomery create REDIS://localhost/f -n 5
bloomery create file:///tmp/f -n 5
