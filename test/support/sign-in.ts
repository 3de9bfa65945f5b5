// People of a gateway under test, signed in as a program would: each with a cookie of their own.
import type { TestGateway } from './gateway.ts'

export const personPassword = 'a long enough password'

export interface SignedIn {
  cookie: string
  /** Gives the status, the parsed body and the whole text. */
  ask(
    method: string,
    path: string,
    body?: unknown,
    // biome-ignore lint/suspicious/noExplicitAny: tests look into answers of every shape
  ): Promise<{ status: number; body: any; text: string }>
}

/** Adds the person and signs them in. */
export async function newPerson(
  gateway: Pick<TestGateway, 'url' | 'admin'>,
  person: { name: string; role: string; account?: string },
): Promise<SignedIn> {
  const made = await gateway.admin('POST', '/people', { ...person, password: personPassword })
  if (made.status !== 201) throw new Error(`no person was made: ${JSON.stringify(made.body)}`)
  return signedIn(gateway.url, person.name)
}

async function signedIn(url: string, name: string): Promise<SignedIn> {
  const answer = await trySignIn(url, name, personPassword)
  const [cookie = ''] = (answer.headers.get('set-cookie') ?? '').split(';')
  if (cookie === '') throw new Error(`${name} could not sign in: ${await answer.text()}`)
  return { cookie, ask: (method, path, body) => askAs(url, cookie, method, path, body) }
}

export const trySignIn = (
  url: string,
  name: string,
  password: string,
  headers: Record<string, string> = {},
): Promise<Response> =>
  fetch(`${url}/admin/v1/session`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify({ name, password }),
  })

async function askAs(url: string, cookie: string, method: string, path: string, body?: unknown) {
  const response = await fetch(`${url}/admin/v1${path}`, {
    method,
    headers: { cookie, 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
    ...(body !== undefined && method !== 'GET' && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: parsed(text), text }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
