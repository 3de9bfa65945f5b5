// The same call in what people write. `YOUR_TOKEN` is theirs to fill in.
import type { Snippet } from '../../../components/snippet.ts'

export const codeFor = (url: string, path: string, body: unknown): Snippet[] => {
  const json = JSON.stringify(body, null, 2)
  const address = `${url}${path}`
  return [
    {
      name: 'curl',
      code: `curl ${address} \\
  -H "Authorization: Bearer YOUR_TOKEN" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify(body).replaceAll("'", "'\\''")}'`,
    },
    {
      name: 'JavaScript',
      code: `const response = await fetch('${address}', {
  method: 'POST',
  headers: { authorization: 'Bearer YOUR_TOKEN', 'content-type': 'application/json' },
  body: JSON.stringify(${json.replaceAll('\n', '\n  ')}),
})
console.log(await response.text())`,
    },
    {
      name: 'Python',
      code: `import json, urllib.request

body = json.loads(r'''${json.replaceAll("'", '\\u0027')}''')
request = urllib.request.Request(
    "${address}",
    data=json.dumps(body).encode(),
    headers={"Authorization": "Bearer YOUR_TOKEN", "Content-Type": "application/json"},
)
print(urllib.request.urlopen(request).read().decode())`,
    },
    {
      name: 'Go',
      code: `package main

import (
	"fmt"
	"io"
	"net/http"
	"strings"
)

func main() {
	body := strings.NewReader(\`${json.replaceAll('`', '` + "`" + `')}\`)
	request, _ := http.NewRequest("POST", "${address}", body)
	request.Header.Set("Authorization", "Bearer YOUR_TOKEN")
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	fmt.Println(string(answer))
}`,
    },
    {
      name: 'Java',
      code: `var client = java.net.http.HttpClient.newHttpClient();
var request = java.net.http.HttpRequest.newBuilder(java.net.URI.create("${address}"))
    .header("Authorization", "Bearer YOUR_TOKEN")
    .header("Content-Type", "application/json")
    .POST(java.net.http.HttpRequest.BodyPublishers.ofString("""
${json.replaceAll('\\', '\\\\')}
"""))
    .build();
System.out.println(client.send(request, java.net.http.HttpResponse.BodyHandlers.ofString()).body());`,
    },
    {
      name: 'PHP',
      code: `<?php
$body = json_decode(<<<'JSON'
${json}
JSON);
$context = stream_context_create(['http' => [
    'method' => 'POST',
    'header' => "Authorization: Bearer YOUR_TOKEN\\r\\nContent-Type: application/json",
    'content' => json_encode($body),
    'ignore_errors' => true,
]]);
echo file_get_contents('${address}', false, $context);`,
    },
  ]
}
