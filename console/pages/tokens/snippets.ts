// How to call the gateway from what people use. `YOUR_TOKEN` is theirs to fill in.
export const snippets = (url: string): { name: string; code: string }[] => [
  {
    name: 'curl',
    code: `curl ${url}/v1/chat/completions \\
  -H "Authorization: Bearer YOUR_TOKEN" -H "Content-Type: application/json" \\
  -d '{"model":"txta-plus","messages":[{"role":"user","content":"Hello!"}]}'`,
  },
  {
    name: 'openai (Node)',
    code: `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '${url}/v1', apiKey: 'YOUR_TOKEN' })
const answer = await client.chat.completions.create({
  model: 'txta-plus',
  messages: [{ role: 'user', content: 'Hello!' }],
})
console.log(answer.choices[0].message.content)`,
  },
  {
    name: 'openai (Python)',
    code: `from openai import OpenAI

client = OpenAI(base_url="${url}/v1", api_key="YOUR_TOKEN")
answer = client.chat.completions.create(
    model="txta-plus",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`,
  },
  {
    name: 'anthropic (Node)',
    code: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: '${url}', apiKey: 'YOUR_TOKEN' })
const answer = await client.messages.create({
  model: 'txta-plus',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello!' }],
})
console.log(answer.content[0].text)`,
  },
  {
    name: '@google/genai',
    code: `import { GoogleGenAI } from '@google/genai'

const client = new GoogleGenAI({
  apiKey: 'YOUR_TOKEN',
  httpOptions: { baseUrl: '${url}/vendorg' },
})
let operation = await client.models.generateVideos({ model: 'vendorg-video-1', prompt: 'a cat' })`,
  },
]
