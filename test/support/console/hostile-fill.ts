// Puts every harmful text into everything of a gateway that is stored and shown.
import { apiToken, type TestGateway } from '../gateway.ts'
import { hostileTexts, inAscii, inOneWord, trickyNames } from './hostile-texts.ts'
import { hostileFiles } from './hostile-upstream.ts'

export const harmConfig = (url: string): string => `
accounts: [{ name: acme, balance: "100000.00" }]
tokens: [{ account: acme, name: test, token: ${apiToken} }]
channels:
  - name: harm
    keys: [upk-harm-0123456789abcdef]
    protocols: { chat: "${url}/v1", vf: "${url}", images: "${url}/v1" }
    models: { txta-plus: "*", vfa-2.7-t2v: "*", vfa-2.7-i2v: "*", imga-plus: "*" }
    max_concurrency: 1000
`

const atOnce = 16

/** Resolves when all tasks have ended whose upstream says something that can be believed. */
export async function fillWithHarm(gateway: TestGateway, receiver: string): Promise<void> {
  await fillSettings(gateway)
  const work = hostileTexts.flatMap((text, i) => callsFor(gateway, receiver, text, i))
  for (const file of hostileFiles) {
    work.push(() => video(gateway, { prompt: `case 0 file ${file}` }))
  }
  for (let at = 0; at < work.length; at += atOnce) {
    await Promise.all(work.slice(at, at + atOnce).map((each) => each()))
  }
  for (;;) {
    const { body } = await gateway.admin('GET', '/tasks?limit=500&state=queued')
    const prompts = body.items.map((task: { request: { prompt: string } }) => task.request.prompt)
    if (prompts.every((prompt: string) => prompt.endsWith(' by-link'))) break
    await Bun.sleep(50)
  }
}

/** What an address could begin with. */
const isScheme = /^\W?[a-z\t]+:|^\/\//i

type Call = () => Promise<void>

function callsFor(gateway: TestGateway, receiver: string, text: string, i: number): Call[] {
  const chat = async (content: string, more: object = {}) => {
    const agent = { 'user-agent': inAscii(text) }
    const messages = [{ role: 'user', content }]
    const body = { model: 'txta-plus', messages, ...more }
    await (await gateway.post('/v1/chat/completions', body, agent)).text()
  }
  const reference = `http://evil.test/${inOneWord(text)}`
  return [
    () => chat('hello', { model: text }),
    () => chat(`case ${i}`),
    () => chat(`case ${i} say`),
    () =>
      video(gateway, {
        model: 'vfa-2.7-i2v',
        prompt: `case ${i} ${text}`,
        ...(URL.canParse(reference) && { input_reference: reference }),
      }),
    ...(isScheme.test(text) ? [() => video(gateway, { prompt: `case ${i} by-link` })] : []),
    () =>
      made(gateway, '/imgvendor/v1/images/generations', {
        model_name: 'imgvendor-v2',
        prompt: text,
        external_task_id: [...`${i} ${text}`.replace(/\p{Cc}/gu, '')].slice(0, 128).join(''),
        callback_url: `${receiver}/${inOneWord(text)}`,
      }),
  ]
}

const video = (gateway: TestGateway, more: object): Promise<void> =>
  made(gateway, '/v1/videos', { model: 'vfa-2.7-t2v', seconds: 5, ...more })

async function made(gateway: TestGateway, path: string, body: object): Promise<void> {
  const answer = await gateway.post(path, body)
  const text = await answer.text()
  if (answer.status !== 200) throw new Error(`${path} ${JSON.stringify(body)}: ${text}`)
}

/** Names that are allowed but tricky, and words of administrators. */
async function fillSettings(gateway: TestGateway): Promise<void> {
  const make = async (path: string, body: object) => {
    const made = await gateway.admin('POST', path, body)
    if (made.status >= 300) throw new Error(`${path}: ${JSON.stringify(made.body)}`)
    return made.body
  }
  for (const name of trickyNames) {
    await make('/accounts', { name, balance: '1.00' })
    await make('/tokens', { account: name, name })
    await make('/people', { name, role: 'member', account: name, password: `${name} of the house` })
    const { id } = await make('/channels', {
      name,
      keys: ['upk-0123456789abcdef'],
      protocols: { chat: 'http://127.0.0.1:9/<script>hit(9100)</script>' },
      models: { 'txta-max': '<img/src=x/onerror=hit(9101)>', constructor: '"onfocus=hit(9102)"' },
    })
    await gateway.admin('PATCH', `/channels/${id}`, { disabled: true })
  }
  for (const text of hostileTexts) {
    await make('/accounts/acme/credits', { amount: '0.01', note: text.slice(0, 500) })
  }
}
