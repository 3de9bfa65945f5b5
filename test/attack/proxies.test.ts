// The proxy files that are shipped, in a real nginx in front of a real gateway: no spelling of a
// target leads from the port of callers to administration.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import {
  adminToken,
  apiToken,
  root,
  startGateway,
  type TestGateway,
  tempDir,
} from '../support/gateway.ts'
import { rawRequest } from '../support/raw.ts'

const read = (path: string): string => readFileSync(join(root, path), 'utf8')

interface Proxy {
  callers: string
  admin: string
  stop(): Promise<unknown>
}

/** The text with ports of this machine: 8080 and 8081 of the gateways and of nginx itself. */
async function startNginx(text: string, gateway: { port: string; adminPort: string }) {
  const dir = tempDir()
  const [callers, admin] = [freePort(), freePort()]
  const conf = text
    .replaceAll(/gateway-\d:8080/g, `127.0.0.1:${gateway.port}`)
    .replaceAll(/gateway-\d:8081/g, `127.0.0.1:${gateway.adminPort}`)
    .replace('listen 8080;', `listen 127.0.0.1:${callers};`)
    .replace('listen 8081;', `listen 127.0.0.1:${admin};`)
  writeFileSync(join(dir, 'nginx.conf'), conf)
  const child = Bun.spawn(
    [
      'nginx',
      ...['-p', dir, '-c', join(dir, 'nginx.conf'), '-e', 'stderr'],
      ...['-g', `daemon off; pid ${dir}/pid; worker_processes 1;`],
    ],
    { stdout: 'ignore', stderr: 'ignore' },
  )
  const url = `http://127.0.0.1:${callers}`
  while ((await fetch(`${url}/healthz`).catch(() => undefined)) === undefined) {
    if (child.exitCode !== null) throw new Error('nginx did not start')
    await Bun.sleep(20)
  }
  const stop = async () => {
    child.kill('SIGTERM')
    await child.exited
  }
  return { callers: url, admin: `http://127.0.0.1:${admin}`, stop } satisfies Proxy
}

/** The locations that the chart's ingress becomes in ingress-nginx. */
function ingressShape(): string {
  const [, list] = /range \$path := list ([^}]+)\}\}/.exec(
    read('deploy/helm/model-gateway/templates/ingress.yaml'),
  )!
  const locations = list!.match(/\/\w+/g)!.map(
    (path) => `location ${path}/ { proxy_pass http://gateways; }
               location = ${path} { proxy_pass http://gateways; }`,
  )
  return `
    events {}
    http {
      access_log off;
      upstream gateways { server gateway-1:8080; }
      proxy_set_header Host $http_host;
      proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for;
      server {
        listen 8080;
        ${locations.join('\n')}
        location / { return 404; }
      }
    }`
}

const ways = ['/admin/v1/setup', '/admin/v1/accounts', '/console/', '/metrics']

/** Spellings of a path that something on the way might take for it. */
const spellingsOf = (path: string): string[] => {
  const rest = path.slice(1)
  const back = rest.replaceAll('/', '\\')
  return [
    `/${back}`,
    `/\\${rest}`,
    `//${rest}`,
    `/.//${rest}`,
    `/./${rest}`,
    `/%2e/${rest}`,
    `/v1/..\\${rest}`,
    `/v1/..\\${back}`,
    `/v1\\..\\${rest}`,
    `/v1/..%5c${rest}`,
    `/v1/%2e%2e\\${rest}`,
    `/v1/.%2e%5C${rest}`,
    `/v1/../${rest}`,
    `/v1/%2e%2e/${rest}`,
    `/v1/..%2f${rest}`,
    `/v1/x/..\\..\\${rest}`,
    `/x/..\\${rest}`,
    `/files/..\\${rest}`,
    `/gateway/v1/..\\..\\${rest}`,
    `/healthz/..\\${rest}`,
    `/healthz\\..\\${rest}`,
    `/${rest.replaceAll('/', '%2f')}`,
    `/${rest.replaceAll('/', '%5C')}`,
    `/%${rest.charCodeAt(0).toString(16)}${rest.slice(1)}`,
    `/${rest.toUpperCase()}`,
    `/${rest};x`,
    `/${rest}#x`,
    `/v1/..;/${rest}`,
    `http://localhost/${rest}`,
    `http://localhost/v1/..\\${rest}`,
    `/v1/\t..\\${rest}`,
    `/v1/..\\/${rest}`,
    `/v1/..//${rest}`,
    `/v1/%252e%252e/${rest}`,
    `/v1/%c0%ae%c0%ae/${rest}`,
  ]
}

/** Something only administration says. */
const marks = ['"needed"', '"items"', '<!doctype html>', 'gateway_calls_total', 'Admin API']

if (Bun.which('nginx') === null) {
  console.error('left out: the proxy files in front of a gateway (install nginx)')
} else {
  for (const own of [true, false]) {
    describe(`a gateway ${own ? 'with a listener of its own for' : 'on one port with'} administration`, () => {
      let gateway: TestGateway
      let ports: { port: string; adminPort: string }
      const proxies: Proxy[] = []

      beforeAll(async () => {
        const env = {
          GATEWAY_TRUSTED_PROXIES: '127.0.0.1',
          ...(own && { GATEWAY_ADMIN_PORT: '0' }),
        }
        gateway = await startGateway({ env })
        const adminUrl = /Admin API\s+(\S+)\/admin\/v1/.exec(gateway.output())![1]!
        ports = { port: new URL(gateway.url).port, adminPort: new URL(adminUrl).port }
        proxies.push(await startNginx(read('deploy/docker/nginx.conf'), ports))
        proxies.push(await startNginx(ingressShape(), ports))
      })
      afterAll(async () => {
        for (const proxy of proxies) await proxy.stop()
        await gateway?.stop()
      })

      for (const [at, name] of ['nginx.conf', 'the ingress'].entries()) {
        test(`${name} lets callers through, and no spelling of a way to administration`, async () => {
          const { callers } = proxies[at]!
          const call = await fetch(`${callers}/v1/chat/completions`, {
            method: 'POST',
            headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
            body: '{"model":"txta-plus","messages":[{"role":"user","content":"hi"}]}',
          })
          expect(call.status).toBe(200)
          await call.text()
          for (const target of ways.flatMap((way) => [way, `${way}/`, ...spellingsOf(way)])) {
            for (const host of ['localhost', 'gateway.example']) {
              const answer = await rawRequest(
                callers,
                `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${adminToken}\r\nConnection: close\r\n\r\n`,
              )
              expect([target, answer.status]).toEqual([
                target,
                answer.status >= 400 ? answer.status : 404,
              ])
              expect([target, marks.filter((mark) => answer.body.includes(mark))]).toEqual([
                target,
                [],
              ])
            }
          }
        })
      }

      test('nginx.conf has administration on its other port', async () => {
        const { admin } = proxies[0]!
        const headers = { authorization: `Bearer ${adminToken}` }
        expect((await fetch(`${admin}/admin/v1/accounts`, { headers })).status).toBe(200)
        expect((await fetch(`${admin}/console/`)).status).toBe(200)
        expect((await fetch(`${admin}/metrics`, { headers })).status).toBe(200)
        // Behind a proxy on this machine nobody is local.
        expect((await fetch(`${admin}/metrics`)).status).toBe(own ? 200 : 401)
      })
    })
  }
}
