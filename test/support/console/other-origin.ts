// A page of somebody else, and what it tries against the gateway in a browser that is signed in there:
// forms, calls with and without leave to read, pictures, scripts, frames.

import type { Page } from 'playwright-core'
import { adminRoutes } from '../../../src/admin/routes.ts'

export interface OtherOrigin {
  port: number
  stop(): Promise<void>
}

export function startOtherOrigin(): OtherOrigin {
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () =>
      new Response('<!doctype html><title>Elsewhere</title><h1>Win a prize</h1>', {
        headers: { 'content-type': 'text/html' },
      }),
  })
  return { port: server.port!, stop: () => server.stop(true) }
}

export interface Change {
  method: string
  path: string
}

/** Every call of the admin API that changes something. */
export const changingRoutes = (): Change[] =>
  adminRoutes
    .filter(({ method }) => method !== 'get')
    .map(({ method, path }) => ({ method: method.toUpperCase(), path }))

export interface Attempt extends Change {
  /** What would do harm. */
  body: object
}

export interface Attacked {
  /** Answers that the page could read. */
  read: string[]
  /** Calls that were made one way or the other. */
  made: number
}

/** Everything a page can do without leave, one thing after the other. */
export const attack = (page: Page, base: string, attempts: readonly Attempt[]): Promise<Attacked> =>
  page.evaluate(`(${attacking})(${JSON.stringify({ base, attempts })})`)

/** Leaves for the gateway as a whole page, by a form and by a link: then cookies are laxer. */
export async function leaveFor(page: Page, base: string): Promise<void> {
  const home = page.url()
  const ways = [
    `Object.assign(document.createElement('form'), { method: 'post', enctype: 'text/plain' })`,
    `Object.assign(document.createElement('form'), { method: 'get' })`,
  ]
  for (const way of ways) {
    const arrived = page.waitForURL(`${base}/**`)
    await page.evaluate(`(() => {
      const form = ${way}
      form.action = ${JSON.stringify(`${base}/admin/v1/accounts`)}
      document.body.append(form)
      form.submit()
    })()`)
    await arrived
    await page.goto(home)
  }
}

const attacking = `async ({ base, attempts }) => {
  const read = []
  let made = 0
  const call = async (path, init) => {
    made++
    const answer = await fetch(base + path, { credentials: 'include', ...init }).catch(() => undefined)
    if (answer !== undefined && answer.type !== 'opaque') read.push(init.method + ' ' + path)
  }
  const loaded = (element) => new Promise((resolve) => {
    made++
    element.addEventListener('load', resolve)
    element.addEventListener('error', resolve)
    setTimeout(resolve, 3000)
    document.body.append(element)
  })
  const make = (tag, values) => Object.assign(document.createElement(tag), values)
  const post = async (path, body, enctype) => {
    const name = 'frame' + made
    const frame = make('iframe', { name })
    document.body.append(frame)
    const form = make('form', { method: 'post', action: base + path, target: name, enctype })
    // Such a form is the JSON text, with an equals sign in some value.
    const text = JSON.stringify({ ...body, more: '=' })
    const at = text.lastIndexOf('=')
    form.append(make('input', { name: text.slice(0, at), value: text.slice(at + 1) }))
    document.body.append(form)
    made++
    await new Promise((resolve) => {
      frame.addEventListener('load', resolve)
      setTimeout(resolve, 3000)
      form.submit()
    })
  }
  for (const { method, path, body } of attempts) {
    const text = JSON.stringify(body)
    const json = { 'content-type': 'application/json' }
    await call(path, { method, mode: 'cors', headers: json, body: text })
    if (method !== 'POST') continue
    // Without a type, a browser asks for nobody's leave.
    await call(path, { method, mode: 'no-cors', body: new Blob([text]) })
    await post(path, body, 'text/plain')
  }
  for (const path of ['/admin/v1/session', '/admin/v1/backup', '/admin/v1/tokens', '/console/']) {
    await call(path, { method: 'GET', mode: 'cors' })
    await call(path, { method: 'GET', mode: 'no-cors' })
    await loaded(make('img', { src: base + path }))
    await loaded(make('script', { src: base + path }))
    await loaded(make('iframe', { src: base + path }))
  }
  return { read, made }
}`
