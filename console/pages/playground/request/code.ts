// The same call in several languages, with a token or with `YOUR_TOKEN` in its place.
import type { Snippet } from '../../../lib/client-snippets.ts'

interface Call {
  address: string
  token: string
  body: unknown
  /** The body, indented. */
  json: string
}

type Writer = (call: Call) => string

// In quotes: a shell takes a question mark for the name of a file.
const curl: Writer = ({ address, token, body }) => `curl '${address}' \\
  -H "Authorization: Bearer ${token}" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`

const node: Writer = ({ address, token, json }) => `const response = await fetch('${address}', {
  method: 'POST',
  headers: { authorization: 'Bearer ${token}', 'content-type': 'application/json' },
  body: JSON.stringify(${json.replaceAll('\n', '\n  ')}),
})
console.log(await response.text())`

const python: Writer = ({ address, token, json }) => `import json, urllib.request

body = json.loads(r'''${json.replaceAll("'", '\\u0027')}''')
request = urllib.request.Request(
    "${address}",
    data=json.dumps(body).encode(),
    headers={"Authorization": "Bearer ${token}", "Content-Type": "application/json"},
)
print(urllib.request.urlopen(request).read().decode())`

const go: Writer = ({ address, token, json }) => `package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

func main() {
	body := strings.NewReader(\`${json.replaceAll('`', '` + "`" + `')}\`)
	request, _ := http.NewRequest("POST", "${address}", body)
	request.Header.Set("Authorization", "Bearer ${token}")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	fmt.Println(string(answer))
}`

const java: Writer = ({
  address,
  token,
  json,
}) => `var client = java.net.http.HttpClient.newHttpClient();
var request = java.net.http.HttpRequest.newBuilder(java.net.URI.create("${address}"))
    .header("Authorization", "Bearer ${token}")
    .header("Content-Type", "application/json")
    .POST(java.net.http.HttpRequest.BodyPublishers.ofString("""
${json.replaceAll('\\', '\\\\')}
"""))
    .build();
System.out.println(client.send(request, java.net.http.HttpResponse.BodyHandlers.ofString()).body());`

const php: Writer = ({ address, token, json }) => `<?php
$body = json_decode(<<<'JSON'
${json}
JSON);
$context = stream_context_create(['http' => [
    'method' => 'POST',
    'header' => "Authorization: Bearer ${token}\\r\\nContent-Type: application/json",
    'content' => json_encode($body),
    'ignore_errors' => true,
]]);
echo file_get_contents('${address}', false, $context);`

const writers: readonly (readonly [name: string, write: Writer])[] = [
  ['curl', curl],
  ['Node', node],
  ['Python', python],
  ['Go', go],
  ['Java', java],
  ['PHP', php],
]

export const noToken = 'YOUR_TOKEN'

export function codeFor(
  url: string,
  path: string,
  body: unknown,
  token: string = noToken,
): Snippet[] {
  const call = { address: `${url}${path}`, token, body, json: JSON.stringify(body, null, 2) }
  return writers.map(([name, write]) => ({ name, code: write(call) }))
}
