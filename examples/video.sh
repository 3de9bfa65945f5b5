#!/bin/sh
# A video with curl only: create it, poll until it is done, download it.
#   GATEWAY_URL=http://localhost:8080 GATEWAY_TOKEN=sk-... examples/video.sh [FILE]
set -eu
url=${GATEWAY_URL:-http://localhost:8080}
token=${GATEWAY_TOKEN:?set GATEWAY_TOKEN to an API token; the first start of the gateway prints one}
file=${1:-video.mp4}
most_looks=300

ask() {
  curl --fail-with-body -sS --max-time 60 -H "Authorization: Bearer $token" "$@"
}
# The value of a top-level text field of a JSON answer; use jq for more.
field() { sed -n "s/^.*\"$1\":\"\([^\"]*\)\".*$/\1/p" | head -n 1; }

# With the same key the request can be repeated: one video is made and charged.
id=$(ask "$url/v1/videos" -H 'Content-Type: application/json' -H "Idempotency-Key: $$-$(date +%s)" \
  -d '{"model": "vfb-1.1-t2v", "prompt": "A cat on a roof", "seconds": 3}' | field id)
echo "ordered: $id"

looks=0 status=queued
while [ "$status" != completed ]; do
  looks=$((looks + 1))
  if [ "$status" = failed ] || [ "$looks" -gt "$most_looks" ]; then
    echo "not made: $status" >&2
    exit 1
  fi
  sleep 1
  status=$(ask "$url/v1/videos/$id" | field status)
done
ask "$url/v1/videos/$id/content" -o "$file"
echo "saved: $file ($(wc -c <"$file" | tr -d ' ') bytes)"
