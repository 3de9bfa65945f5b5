// Rows of the fault table about what an upstream says with its status, and about bytes that are no
// proper HTTP.
import { answered, canary, error, type Fault, fine, leak, type Mode, wholeAnswer } from './fault.ts'
import { all, good } from './styles.ts'

const both: readonly Mode[] = ['json', 'stream']
const kept = 'the tensor was unhappy'
const told = JSON.stringify({ error: { message: `${kept}; ${leak}`, code: 'x' } })
const page = `<html><body>${leak} ${canary}</body></html>`

const says = (
  row: string,
  status: string,
  seen: Fault['seen'],
  body = told,
  more: Partial<Fault> = {},
): Fault => ({
  row,
  name: `${status}${body === told ? '' : ' with another body'}`,
  styles: all,
  modes: both,
  seen,
  script: (wire) => wire.send(answered(status, body)),
  upstreamId: true,
  ...(body === told && { says: kept }),
  ...more,
})

const denied = error(502, 'upstream_permission_denied')
const refused = error(400, 'upstream_invalid_request')
const failed = error(502, 'upstream_error')
const overloaded = error(503, 'overloaded')

const statuses: Fault[] = [
  says('F15', '500 Internal Server Error', failed),
  says('F15', '502 Bad Gateway', failed, page),
  says('F15', '503 Unavailable', overloaded),
  says('F15', '529 Overloaded', overloaded),
  says('F15', '504 Gateway Timeout', error(504, 'upstream_timeout')),
  says('F16', '401 Unauthorized', denied),
  says('F16', '403 Forbidden', denied),
  says('F16', '401 Unauthorized', denied, page),
  says('F16', '403 Forbidden', denied, ''),
  says('F17', '400 Bad Request', refused),
  says('F17', '422 Unprocessable', refused),
  says('F17', '400 Bad Request', refused, page),
  says(
    'F17',
    '400 Bad Request',
    error(400, 'content_policy_violation'),
    JSON.stringify({ error: { message: `${kept}; ${leak}`, code: 'content_filter' } }),
    { name: '400 for its content', says: kept },
  ),
]

const minute = 60_000
const pauses: [name: string, value: string, shown: string][] = [
  ['in seconds', '7', '7'],
  ['negative', '-30', '1'],
  ['of a billion', '1000000000', '600'],
  ['that is garbage', 'soon', '1'],
  ['that is empty', '', '1'],
  ['of a date long ago', 'Thu, 01 Jan 1970 00:00:00 GMT', '1'],
  ['of a date far away', 'Fri, 01 Jan 2100 00:00:00 GMT', '600'],
  ['of a date in an hour', new Date(Date.now() + 60 * minute).toUTCString(), '600'],
]
const pausing: Fault[] = pauses.map(([name, value, shown]) => ({
  row: 'F14',
  name: `429 with a pause ${name}`,
  styles: all,
  modes: both,
  seen: error(429, 'upstream_rate_limited', shown),
  says: kept,
  upstreamId: true,
  script: (wire) =>
    wire.send(answered('429 Slow down', told, 'application/json', `retry-after: ${value}\r\n`)),
}))

const redirects: Fault[] = ['301 Moved', '302 Found', '303 See', '307 Temporary', '308 Moved'].map(
  (status) => ({
    row: 'F35',
    name: status,
    styles: all,
    modes: both,
    seen: failed,
    script: (wire, { trap }) =>
      wire.send(answered(status, page, 'text/html', `location: ${trap}\r\n`)),
  }),
)

const lines = (count: number) => Array.from({ length: count }, (_, i) => `x-h${i}: 1\r\n`).join('')
const withLine = (line: string) => (whole: string) => whole.replace('\r\n', `\r\n${line}\r\n`)
const withStatus = (start: string) => (whole: string) => whole.replace('HTTP/1.1 200 OK', start)
const interim = 'HTTP/1.1 100 Continue\r\n\r\n'
const hints = 'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'
const http2 = Buffer.from('00001204000000000000030000006400040010000000060000400000', 'hex')
const tls = Buffer.from('160303003d0200003903030102030405060708090a0b0c0d0e0f', 'hex')

/** Each is an answer that would be good but for one thing, or no answer at all. */
const strange: [name: string, change: (whole: string) => string | Uint8Array][] = [
  ['a flood of interim answers', (whole) => interim.repeat(5_000) + whole],
  ['a flood of hints', (whole) => hints.repeat(500) + whole],
  ['a switch of protocols', (whole) => `HTTP/1.1 101 Switching\r\nupgrade: x\r\n\r\n${whole}`],
  ['300 headers', withLine(lines(300).trimEnd())],
  ['a header of 64 KiB', withLine(`x-big: ${'a'.repeat(65_536)}`)],
  ['an endless header', () => `HTTP/1.1 200 OK\r\nx-big: ${'a'.repeat(200_000)}`],
  ['a header with NUL', withLine('x-nul: a\0b')],
  ['a header with a bare CR', withLine('x-cr: a\rb')],
  ['bare line feeds', (whole) => whole.replaceAll('\r\n', '\n')],
  ['a folded header', withLine('x-a: 1\r\n folded')],
  ['a header without a colon', withLine('nonsense')],
  ['a space before the colon', withLine('x-a : 1')],
  ['a status that is no number', withStatus('HTTP/1.1 abc OK')],
  ['a status of four digits', withStatus('HTTP/1.1 2000 OK')],
  ['a status below 100', withStatus('HTTP/1.1 099 OK')],
  ['a status without a space', withStatus('HTTP/1.1 200OK')],
  ['another protocol', withStatus('ICY 200 OK')],
  ['a version of the future', withStatus('HTTP/3.0 200 OK')],
  ['HTTP/2', () => http2],
  ['the preface of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['TLS', () => tls],
  ['a line of text', () => 'go away\r\n'],
  ['NULs', () => new Uint8Array(4_096)],
]
const noHttp: Fault[] = strange.map(([name, change]) => ({
  row: 'F40',
  name,
  styles: all,
  modes: both,
  seen: error(502, 'upstream_invalid_response'),
  script: (wire, scene) => wire.send(change(wholeAnswer(scene, good))),
}))

const oddIds: Fault[] = [
  ['an address', 'http://10.12.0.7:8443/v2/run'],
  ['the key', `id-${canary}`],
  ['bytes beyond ASCII', 'id-\u00ff\u00fe'],
  ['great length', 'i'.repeat(9_000)],
].map(([name = '', id = '']) => ({
  row: 'F17',
  name: `400 with an id that is ${name}`,
  styles: all,
  modes: both,
  seen: refused,
  says: kept,
  async script(wire) {
    const text = answered('400 Bad Request', told)
    const bytes = text.replace(/x-request-id: .*/, `x-request-id: ${id}`)
    await wire.send(Buffer.from(bytes, 'latin1'))
  },
}))

/** Unusual, and nothing is wrong with it. */
const unusual: [name: string, change: (whole: string) => string][] = [
  ['a few interim answers', (whole) => `${'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(3)}${whole}`],
  ['no reason after its status', (whole) => whole.replace('200 OK', '200')],
  [
    'headers in capitals',
    (whole) =>
      whole.replace(/^.*?\r\n\r\n/s, (start) =>
        start.replace(/^[a-z-]+(?=:)/gm, (name) => name.toUpperCase()),
      ),
  ],
  ['100 headers', (whole) => whole.replace('\r\n', `\r\n${lines(100)}`)],
  ['chunk extensions', (whole) => whole.replace(/\r\n([0-9a-f]+)\r\n/g, '\r\n$1;a=b\r\n')],
]
const passing: Fault[] = unusual.map(([name, change]) => ({
  row: 'F40',
  name: `nothing but ${name}`,
  styles: all,
  modes: both,
  seen: fine,
  script: (wire, scene) => wire.send(change(wholeAnswer(scene, good))),
}))

export const statusRows: readonly Fault[] = [
  ...statuses,
  ...oddIds,
  ...pausing,
  ...redirects,
  ...noHttp,
  ...passing,
]
