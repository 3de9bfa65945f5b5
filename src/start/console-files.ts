// The console's files: bundled from the repository on first use, by a separate process to keep the
// gateway's memory small, then served from memory. Knows no page of it.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { refuse } from '../contract/errors.ts'
import { answerRefusal } from '../http/render-error.ts'
import { answerHeaders, type RequestContext } from '../http/request-context.ts'
import { assets } from '../lib/assets.ts'

interface File {
  body: Uint8Array
  packed: Uint8Array
  type: string
}

interface Bundle {
  /** Read on first use, then kept. */
  open(name: string): Promise<File | undefined>
  /** The page's entry script. */
  script: string
  style: string
}

const buildLimitMs = 60_000
let bundle: Promise<Bundle> | undefined

/** Built once; the next request retries a failed build. */
function bundled(): Promise<Bundle> {
  bundle ??= build().catch((error) => {
    bundle = undefined
    throw error
  })
  return bundle
}

async function build(): Promise<Bundle> {
  if (assets.consoleFiles !== undefined) return bundleOf(assets.consoleFiles)
  const out = mkdtempSync(join(tmpdir(), 'gateway-console-'))
  try {
    const program = new URL('../../console/build.ts', import.meta.url).pathname
    const child = Bun.spawn([process.execPath, program, out], {
      stdout: 'ignore',
      stderr: 'pipe',
      // Libraries check this to leave out their development checks.
      env: { NODE_ENV: 'production' },
      timeout: buildLimitMs,
    })
    const said = await new Response(child.stderr).text()
    if ((await child.exited) !== 0) throw new Error(`the console could not be bundled: ${said}`)
    const names = readdirSync(out)
    const made = bundleOf(new Map(names.map((name) => [name, join(out, name)])))
    // The folder is gone in a moment.
    for (const name of names) await made.open(name)
    return made
  } finally {
    rmSync(out, { recursive: true, force: true })
  }
}

const types: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  woff2: 'font/woff2',
}

function bundleOf(paths: ReadonlyMap<string, string>): Bundle {
  const files = new Map<string, Promise<File>>()
  const read = async (path: string, type: string): Promise<File> => {
    const body = await Bun.file(path).bytes()
    return { body, packed: Bun.gzipSync(body, { level: 9 }), type }
  }
  const find = (pattern: RegExp) => [...paths.keys()].find((name) => pattern.test(name)) ?? ''
  return {
    async open(name) {
      const path = paths.get(name)
      const type = types[name.split('.').at(-1) ?? '']
      if (path === undefined || type === undefined) return undefined
      const known = files.get(name) ?? read(path, type)
      files.set(name, known)
      return known
    },
    script: find(/^main-.*\.js$/),
    style: find(/^main-.*\.css$/),
  }
}

const base = '/console/'

export const redirectToConsole = (x: RequestContext, status: 302 | 308 = 308): Response => {
  const headers = { ...answerHeaders(x, 'text/plain'), ...always, location: base, vary: 'accept' }
  return new Response(null, { status, headers })
}

/** The name of what never changes under its name has its hash in it. */
const isHashed = (name: string): boolean => /-[a-z0-9]{8,}\.\w+$/.test(name)

function answerFile(x: RequestContext, name: string, file: File): Response {
  const headers = {
    ...answerHeaders(x, file.type),
    ...always,
    'cache-control': isHashed(name) ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'accept-encoding',
  }
  const packs = x.request.headers.get('accept-encoding')?.includes('gzip') === true
  if (!packs) return new Response(file.body, { headers })
  return new Response(file.packed, { headers: { ...headers, 'content-encoding': 'gzip' } })
}

function answerNothing(x: RequestContext): Response {
  const answer = answerRefusal(x, refuse('not_found', `there is nothing at ${x.path}`))
  for (const [header, value] of Object.entries(always)) answer.headers.set(header, value)
  return answer
}

/** Script, style, fonts and mark of the documentation, which callers may read, too. */
const siteFiles = /^(site(-theme)?\.(js|css)|mark\.svg|[\w-]+\.woff2)$/

export async function serveSiteFile(x: RequestContext): Promise<Response> {
  const name = x.path.slice(x.path.lastIndexOf('/') + 1)
  const file = siteFiles.test(name) ? await (await bundled()).open(name) : undefined
  return file === undefined ? answerNothing(x) : answerFile(x, name, file)
}

export async function serveConsole(x: RequestContext): Promise<Response> {
  const name = x.path.slice(base.length)
  const { open, script, style } = await bundled()
  const file = await open(name)
  if (file !== undefined) return answerFile(x, name, file)
  // Every page has a path of its own; all of them serve this file.
  if (/\.\w+$/.test(name)) return answerNothing(x)
  const nonce = Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString('base64url')
  const headers = {
    ...answerHeaders(x, 'text/html; charset=utf-8'),
    ...always,
    'cache-control': 'no-store',
    'content-security-policy': policy(nonce),
  }
  return new Response(page(nonce, script, style), { headers })
}

const always = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
}

const policy = (nonce: string): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self' 'nonce-${nonce}'`,
    "img-src 'self' data: blob:",
    "media-src 'self' blob:",
    "connect-src 'self'",
    "font-src 'self'",
    "manifest-src 'self'",
    "frame-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; ')

const page = (nonce: string, script: string, style: string): string => `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="csp-nonce" content="${nonce}">
<title>Model Gateway</title>
<link rel="icon" type="image/svg+xml" href="${base}mark.svg">
<script src="${base}theme.js"></script>
<link rel="stylesheet" href="${base}${style}">
<script type="module" src="${base}${script}"></script>
</head>
<body><div id="root"></div></body>
</html>
`
