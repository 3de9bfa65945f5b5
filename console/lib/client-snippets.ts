// How to call the gateway from common tools and SDKs; readers replace `YOUR_TOKEN` where no secret is known.
/** A piece of code to copy, by the name of its language or tool. */
export interface Snippet {
  name: string
  code: string
}

/** `{url}` is the address of the gateway. */
const templates: readonly Snippet[] = [
  {
    name: 'curl',
    code: `curl {url}/v1/chat/completions \\
  -H "Authorization: Bearer YOUR_TOKEN" -H "Content-Type: application/json" \\
  -d '{"model":"txta-plus","messages":[{"role":"user","content":"Hello!"}]}'`,
  },
  {
    name: 'openai (Node)',
    code: `import OpenAI from 'openai'

const client = new OpenAI({ baseURL: '{url}/v1', apiKey: 'YOUR_TOKEN' })
const answer = await client.chat.completions.create({
  model: 'txta-plus',
  messages: [{ role: 'user', content: 'Hello!' }],
})
console.log(answer.choices[0].message.content)`,
  },
  {
    name: 'openai (Python)',
    code: `from openai import OpenAI

client = OpenAI(base_url="{url}/v1", api_key="YOUR_TOKEN")
answer = client.chat.completions.create(
    model="txta-plus",
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.choices[0].message.content)`,
  },
  {
    name: 'anthropic (Node)',
    code: `import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({ baseURL: '{url}', apiKey: 'YOUR_TOKEN' })
const answer = await client.messages.create({
  model: 'txta-plus',
  max_tokens: 100,
  messages: [{ role: 'user', content: 'Hello!' }],
})
console.log(answer.content[0].text)`,
  },
  {
    name: 'anthropic (Python)',
    code: `from anthropic import Anthropic

client = Anthropic(base_url="{url}", api_key="YOUR_TOKEN")
answer = client.messages.create(
    model="txta-plus",
    max_tokens=100,
    messages=[{"role": "user", "content": "Hello!"}],
)
print(answer.content[0].text)`,
  },
  {
    name: '@google/genai',
    code: `import { GoogleGenAI } from '@google/genai'

const client = new GoogleGenAI({
  apiKey: 'YOUR_TOKEN',
  httpOptions: { baseUrl: '{url}/vendorg' },
})
const answer = await client.models.generateContent({ model: 'txta-plus', contents: 'Hello!' })
console.log(answer.text)`,
  },
  {
    name: 'ai (Node)',
    code: `import { createOpenAICompatible } from '@ai-sdk/openai-compatible'
import { generateText } from 'ai'

const gateway = createOpenAICompatible({
  name: 'gateway',
  baseURL: '{url}/v1',
  apiKey: 'YOUR_TOKEN',
})
const { text } = await generateText({ model: gateway('txta-plus'), prompt: 'Hello!' })
console.log(text)`,
  },
  {
    name: 'langchain-openai',
    code: `from langchain_openai import ChatOpenAI

model = ChatOpenAI(base_url="{url}/v1", api_key="YOUR_TOKEN", model="txta-plus")
print(model.invoke("Hello!").content)`,
  },
  {
    name: 'Environment',
    code: `# Most tools that speak chat or responses read these:
export OPENAI_BASE_URL="{url}/v1"
export OPENAI_API_KEY="YOUR_TOKEN"

# Those that speak messages read these:
export ANTHROPIC_BASE_URL="{url}"
export ANTHROPIC_AUTH_TOKEN="YOUR_TOKEN"
export ANTHROPIC_MODEL="txta-plus"

# Those that speak generate read these:
export GOOGLE_GEMINI_BASE_URL="{url}/vendorg"
export GEMINI_API_KEY="YOUR_TOKEN"`,
  },
  {
    name: 'Video (curl)',
    code: `curl {url}/v1/videos \\
  -H "Authorization: Bearer YOUR_TOKEN" -H "Content-Type: application/json" \\
  -d '{"model":"vfa-2.7-t2v","prompt":"A cat walks along the beach","seconds":5}'

# Then, until its status is completed:
curl {url}/v1/videos/ID -H "Authorization: Bearer YOUR_TOKEN"
curl {url}/v1/videos/ID/content -H "Authorization: Bearer YOUR_TOKEN" -o video.mp4`,
  },
]

/** Those that the examples name, by what they make. */
const examples = { text: 'txta-plus', video: 'vfa-2.7-t2v' } as const
/** What the example of this one needs. */
const videoSnippet = 'Video (curl)'

export interface OfferedModel {
  name: string
  kind: string
  callable: boolean
}

const isAllowed = (name: string, patterns: readonly string[]): boolean =>
  patterns.some((each) => (each.endsWith('*') ? name.startsWith(each.slice(0, -1)) : each === name))

/** Models that the reader can call, in place of those of the examples; without one the example keeps its own. */
export function namesFor(
  models: readonly OfferedModel[],
  allowed: readonly string[],
): { text?: string; video?: string } {
  const usable = models.filter(({ name, callable }) => callable && isAllowed(name, allowed))
  const named = (kind: keyof typeof examples) => {
    const names = usable.filter((model) => model.kind === kind).map(({ name }) => name)
    return names.includes(examples[kind]) ? examples[kind] : names[0]
  }
  const [text, video] = [named('text'), named('video')]
  return { ...(text !== undefined && { text }), ...(video !== undefined && { video }) }
}

/** `secret`: of a token, while it is on the screen; `names`: of models that it can call. */
export function snippets(
  url: string,
  secret = 'YOUR_TOKEN',
  names: { text?: string; video?: string } = examples,
): Snippet[] {
  const { text = examples.text, video } = names
  return templates
    .filter(({ name }) => name !== videoSnippet || video !== undefined)
    .map(({ name, code }) => ({
      name,
      code: code
        .replaceAll('{url}', () => url)
        .replaceAll('YOUR_TOKEN', () => secret)
        .replaceAll(examples.text, () => text)
        .replaceAll(examples.video, () => video ?? examples.video),
    }))
}
