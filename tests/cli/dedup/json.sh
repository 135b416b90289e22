seq 1000 >n
cat n n | bloomery dedup -n 1000 -p 1e-12 --json 2>json >/dev/null
python3 - <<'END'
import json
d = json.load(open("json"))
for key, value in d.items():
    print(key, value if key in ("lines", "unique", "duplicates", "bytes", "filter_bytes") else
          type(value).__name__)
END
