#!/bin/sh
# The first calls, with nothing but curl: one answer as JSON, then one as a stream.
#   GATEWAY_TOKEN=sk-... examples/first-call.sh
set -eu
url=${GATEWAY_URL:-http://localhost:8080}
token=${GATEWAY_TOKEN:?set GATEWAY_TOKEN to an API token; the first start of the gateway prints one}
model=${GATEWAY_MODEL:-txta-plus}

# An HTTP error fails the script; the body, which has the reason, is still shown.
ask() {
  curl --fail-with-body -sS "$@" \
    -H "Authorization: Bearer $token" -H 'Content-Type: application/json'
}

echo "One answer, as JSON:"
ask "$url/v1/chat/completions" --max-time 60 \
  -d "{\"model\": \"$model\", \"messages\": [{\"role\": \"user\", \"content\": \"Say hello.\"}]}"
echo

echo
echo "The same as a stream, with the usage at its end:"
ask "$url/v1/chat/completions" --max-time 60 -N \
  -d "{\"model\": \"$model\", \"stream\": true, \"stream_options\": {\"include_usage\": true},
       \"messages\": [{\"role\": \"user\", \"content\": \"Say hello.\"}]}"
