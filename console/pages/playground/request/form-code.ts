// A form with a sound file in several languages.
import type { Snippet } from '../../../lib/client-snippets.ts'
import { noToken } from './code.ts'

type Fields = readonly (readonly [name: string, value: string])[]

interface Form {
  address: string
  token: string
  fields: Fields
}

const inShell = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`

const curl = ({ address, token, fields }: Form) => `curl '${address}' \\
  -H "Authorization: Bearer ${token}" \\
${fields.map(([name, value]) => `  -F ${inShell(`${name}=${value}`)} \\\n`).join('')}  -F file=@sound.mp3`

const node = ({ address, token, fields }: Form) => `import { openAsBlob } from 'node:fs'

const form = new FormData()
${fields.map((field) => `form.append(${field.map((each) => JSON.stringify(each)).join(', ')})\n`).join('')}form.append('file', await openAsBlob('sound.mp3'), 'sound.mp3')
const response = await fetch('${address}', {
  method: 'POST',
  headers: { authorization: 'Bearer ${token}' },
  body: form,
})
console.log(await response.text())`

const python = ({ address, token, fields }: Form) => `import requests

response = requests.post(
    "${address}",
    headers={"Authorization": "Bearer ${token}"},
    data={${fields.map((field) => field.map((each) => JSON.stringify(each)).join(': ')).join(', ')}},
    files={"file": open("sound.mp3", "rb")},
)
print(response.text)`

const go = ({ address, token, fields }: Form) => `package main

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"os"
)

func main() {
	var body bytes.Buffer
	form := multipart.NewWriter(&body)
${fields.map((field) => `	form.WriteField(${field.map((each) => JSON.stringify(each)).join(', ')})\n`).join('')}	sound, err := os.ReadFile("sound.mp3")
	if err != nil {
		panic(err)
	}
	part, _ := form.CreateFormFile("file", "sound.mp3")
	part.Write(sound)
	form.Close()
	request, _ := http.NewRequest("POST", "${address}", &body)
	request.Header.Set("Authorization", "Bearer ${token}")
	request.Header.Set("Content-Type", form.FormDataContentType())
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		panic(err)
	}
	defer response.Body.Close()
	answer, _ := io.ReadAll(response.Body)
	fmt.Println(string(answer))
}`

const writers = [
  ['curl', curl],
  ['Node', node],
  ['Python', python],
  ['Go', go],
] as const

export function formCodeFor(
  url: string,
  path: string,
  body: object,
  token: string = noToken,
): Snippet[] {
  const fields = Object.entries(body).map(([name, value]) => [name, String(value)] as const)
  const form = { address: `${url}${path}`, token, fields }
  return writers.map(([name, write]) => ({ name, code: write(form) }))
}
