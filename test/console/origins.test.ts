// What others can do to whoever is signed in: pages of other origins change nothing, read nothing and
// show nothing of the console, and what upstreams hand over runs nowhere on its address.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Browser, Page } from 'playwright-core'
import { chromiumPath, openBrowser, setUp, visit } from '../support/console/browser.ts'
import { harmConfig } from '../support/console/hostile-fill.ts'
import {
  type HostileUpstream,
  hostileFiles,
  startHostileUpstream,
} from '../support/console/hostile-upstream.ts'
import {
  type Attempt,
  attack,
  changingRoutes,
  leaveFor,
  type OtherOrigin,
  startOtherOrigin,
} from '../support/console/other-origin.ts'
import { type Watched, watchedVisit } from '../support/console/watched-visit.ts'
import { watchWire } from '../support/console/wire.ts'
import { adminToken, startGateway, type TestGateway } from '../support/gateway.ts'

/** Bodies that would be taken; other calls get an empty one. */
const bodies: Readonly<Record<string, object>> = {
  '/accounts': { name: 'stolen', balance: '1000.00' },
  '/accounts/:id/credits': { amount: '1000.00', note: 'stolen' },
  '/tokens': { account: 'acme', name: 'stolen' },
  '/tokens/:id': { disabled: true },
  '/channels': { name: 'stolen', keys: ['k'], protocols: { chat: 'http://x' }, models: { a: '*' } },
  '/channels/:id': { disabled: true },
  '/people': { name: 'stolen', password: 'a long enough password', role: 'administrator' },
  '/people/:id': { password: 'another long password' },
  '/session': { name: 'ada', password: 'a long enough password' },
  '/session/password': { old: 'a long enough password', password: 'another long password' },
}

if (chromiumPath === undefined) {
  console.error('left out: other origins and the console (install Chromium, or set TEST_CHROMIUM)')
} else {
  describe('around the console', () => {
    let upstream: HostileUpstream
    let gateway: TestGateway
    let other: OtherOrigin
    let browser: Browser
    let it: Watched

    beforeAll(async () => {
      upstream = startHostileUpstream()
      other = startOtherOrigin()
      gateway = await startGateway({
        config: harmConfig(upstream.url),
        env: {
          GATEWAY_SANDBOX: 'on',
          GATEWAY_SANDBOX_TASK_SECONDS: '0.2',
          GATEWAY_EGRESS_ALLOW: '127.0.0.1/32',
        },
      })
      browser = await openBrowser()
      it = await watchedVisit(browser, gateway.url)
      await setUp(it.page, gateway.output())
    })
    afterAll(async () => {
      await browser.close()
      await gateway.stop()
      await upstream.stop()
      await other.stop()
    })

    /** Real things to change, made by the administrator. */
    async function attempts(): Promise<Attempt[]> {
      const make = async (path: string, body: object) =>
        (await gateway.admin('POST', path, body)).body.id as string
      const name = `x${Date.now()}`
      const film = { model: 'vfa-2.7-t2v', prompt: 'case 30 by-link', seconds: 5 }
      const task = (await (await gateway.post('/v1/videos', film)).json()) as { id: string }
      const ids: Record<string, string> = {
        accounts: 'acme',
        tokens: await make('/tokens', { account: 'acme', name }),
        channels: await make('/channels', { ...bodies['/channels'], name }),
        people: await make('/people', { ...bodies['/people'], name }),
        tasks: task.id,
        models: 'txta-plus',
      }
      return changingRoutes().map(({ method, path }) => ({
        method,
        path: `/admin/v1${path.replace(':id', ids[path.split('/')[1] ?? ''] ?? 'x')}`,
        body: bodies[path] ?? {},
      }))
    }
    const state = async () => {
      const lists = ['/accounts', '/tokens', '/channels', '/people', '/prices', '/audit-log']
      const found = lists.map((path) => gateway.admin('GET', `${path}?limit=500`))
      const all = (await Promise.all(found)).map(({ body }) => body.items)
      // How often a channel was asked is not a change.
      return JSON.stringify(all, (key, value) => (key === 'health' ? undefined : value))
    }

    // Cookies do not know ports: a page of another port is of the same site, and its calls have them.
    const pages = [
      { what: 'another site', host: '127.0.0.1', hasCookie: false },
      { what: 'another port of this site', host: 'localhost', hasCookie: true },
    ]
    test.each(pages)('a page of $what changes and reads nothing', async ({ host, hasCookie }) => {
      const tried = await attempts()
      expect(tried.length).toBeGreaterThan(15)
      const before = await state()
      const page = await it.context.newPage()
      const seen = await watchWire(page, gateway.url)
      await page.goto(`http://${host}:${other.port}/`)
      const { read, made } = await attack(page, gateway.url, tried)
      expect(read).toEqual([])
      expect(made).toBeGreaterThan(50)
      const shown = page
        .frames()
        .slice(1)
        .map((frame) => frame.url())
      expect(shown.filter((url) => url.startsWith(`${gateway.url}/console`))).toEqual([])
      await leaveFor(page, gateway.url)
      expect(seen.statuses.length).toBeGreaterThan(50)
      // The page of the console is for everybody; a browser shows it in nobody's frame.
      const good = seen.statuses.filter((status) => status !== 401 && status !== 403)
      expect(good).toEqual(Array(good.length).fill(200))
      expect(good.length).toBeLessThanOrEqual(5)
      expect(seen.cookies > 0).toBe(hasCookie)
      expect(await state()).toBe(before)
      await page.close()
      it.incidents.length = 0
    })

    test('whoever is signed in still is', async () => {
      const { page } = it
      await page.goto('/console/people')
      await page.getByRole('row', { name: /^ada/ }).waitFor()
      expect(await page.getByText('stolen').count()).toBe(0)
    })

    test('a page that opens the console has no hold on it', async () => {
      const page = await it.context.newPage()
      await page.goto(`http://127.0.0.1:${other.port}/`)
      const opened = it.context.waitForEvent('page')
      await page.evaluate(`globalThis.child = open(${JSON.stringify(`${gateway.url}/console/`)})`)
      const child = await opened
      await child.locator('nav').waitFor()
      expect(await child.evaluate('opener')).toBe(null)
      expect(await page.evaluate('child.closed')).toBe(true)
      await page.close()
      await child.close()
      it.incidents.length = 0
    })

    const own = { authorization: `Bearer ${adminToken}` }
    const answers: [what: string, path: string, init: RequestInit][] = [
      ['the page', '/console/', {}],
      ['a page of it', '/console/tasks?open=x', {}],
      ['the way to it', '/console', { redirect: 'manual' }],
      ['a file that is not there', '/console/nothing.js', {}],
      ['a refused call', '/admin/v1/session', {}],
      ['an answer', '/admin/v1/session', { headers: own }],
      ['a list', '/admin/v1/requests', { headers: own }],
      ['the backup', '/admin/v1/backup', { headers: own }],
      ['a call that is not there', '/admin/v1/nothing', { headers: own }],
      ['a wrong body', '/admin/v1/tokens', { headers: own, method: 'POST', body: '{' }],
    ]
    test.each(answers)('%s is for whoever asked, and is what it says', async (_, path, init) => {
      const answer = await fetch(gateway.url + path, init)
      await answer.arrayBuffer()
      const { headers } = answer
      expect(headers.get('x-content-type-options')).toBe('nosniff')
      expect(headers.get('referrer-policy')).toBe('no-referrer')
      expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
      expect(headers.get('access-control-allow-origin')).toBeNull()
      if (answer.status === 308 || path.endsWith('.js')) return
      expect(headers.get('cache-control')).toBe('no-store')
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'")
      expect(headers.get('content-security-policy')).toContain("default-src 'none'")
      expect(headers.get('content-security-policy')).not.toContain('unsafe')
    })

    test('the mark, the scripts and the style of the page are kept, and nothing else', async () => {
      const html = await (await fetch(`${gateway.url}/console/`)).text()
      const names = [...html.matchAll(/(?:src|href)="(\/console\/[^"]+)"/g)].map(([, name]) => name)
      expect(names.map((name) => name?.replace(/-[a-z0-9]{8,}(?=\.)/, ''))).toEqual(
        ['mark.svg', 'theme.js', 'main.css', 'main.js'].map((name) => `/console/${name}`),
      )
      for (const name of names) {
        const { headers } = await fetch(gateway.url + name)
        expect(headers.get('x-content-type-options')).toBe('nosniff')
        expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
      }
      expect(html).not.toMatch(/<script>|<style|onload|https?:/)
    })

    test('pages and drawings that upstreams hand over as results run nowhere', async () => {
      const links = await Promise.all(
        hostileFiles.flatMap((file) => [filmed(gateway, file), drawn(gateway, file)]),
      )
      const alone = await visit(browser, gateway.url)
      await alone.context.exposeBinding('hit', (_, text) => it.incidents.push(`ran ${text}`))
      await it.page.goto('/console/settings')
      // Inside the console: all at once.
      const framed = links.map((link) => framing(link.slice(gateway.url.length)))
      await it.page.evaluate(`Promise.all([${framed.join(', ')}])`)
      for (const link of links) {
        const { status, headers } = await fetch(link)
        expect(status).toBe(200)
        // As what it came, only as far as that is harmless.
        expect(headers.get('content-type')).toMatch(/^(?:video\/mp4|image\/png|.*octet-stream)$/)
        expect(headers.get('x-content-type-options')).toBe('nosniff')
        expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'/)
        // And by itself.
        await alone.page.goto(link).catch(() => {})
      }
      await Bun.sleep(200)
      expect(it.incidents.filter((text) => text.startsWith('ran'))).toEqual([])
      await alone.context.close()
      it.incidents.length = 0
    })

    test('bytes in an answer are no page either', async () => {
      const picture = { model: 'imga-plus', prompt: 'case 0', response_format: 'b64_json' }
      const answer = await gateway.post('/v1/images/generations', picture)
      expect(answer.headers.get('content-type')).toBe('application/json')
      await answer.text()
    })

    test('a real film plays by its link', async () => {
      const film = { model: 'vfb-1.1-t2v', prompt: 'a cat', seconds: 5 }
      const { id } = (await (await gateway.post('/v1/videos', film)).json()) as { id: string }
      const link = await linkOf(gateway, id)
      const { page } = it
      await page.goto(link)
      await plays(page)
      await page.goto(`/console/tasks?open=${id}`)
      await plays(page)
      expect(it.incidents).toEqual([])
    })
  })
}

/** Resolves when there is a picture to be seen. */
async function plays(page: Page): Promise<void> {
  for (;;) {
    if (await page.evaluate('document.querySelector("video")?.readyState >= 2')) return
    await Bun.sleep(50)
  }
}

async function filmed(gateway: TestGateway, file: string): Promise<string> {
  const film = { model: 'vfa-2.7-t2v', prompt: `case 0 file ${file}`, seconds: 5 }
  const { id } = (await (await gateway.post('/v1/videos', film)).json()) as { id: string }
  return linkOf(gateway, id)
}

async function drawn(gateway: TestGateway, file: string): Promise<string> {
  const picture = { model: 'imga-plus', prompt: `case 0 file ${file}` }
  const answer = await gateway.post('/v1/images/generations', picture)
  const { data } = (await answer.json()) as { data: [{ url: string }] }
  return data[0].url
}

/** Runs in the page: shows an address in a frame of it. */
const framing = (path: string) => `new Promise((resolve) => {
  const frame = Object.assign(document.createElement('iframe'), { src: ${JSON.stringify(path)} })
  frame.onload = resolve
  setTimeout(resolve, 300)
  document.body.append(frame)
})`

/** Where a browser finds what came of a task. */
async function linkOf(gateway: TestGateway, id: string): Promise<string> {
  for (;;) {
    const { body } = await gateway.admin('GET', `/tasks/${id}`)
    if (body.state === 'succeeded') return body.files[0].url
    if (body.finished_at !== null) throw new Error(JSON.stringify(body))
    await Bun.sleep(50)
  }
}
