// Public endpoints of the gateway itself, as documents describe them.
import { answered, type Operation, openRefusals } from '../http/operation.ts'
import { flag, list, object, open, text, word } from '../http/schema.ts'

const base = { method: 'get', tag: 'Gateway', credential: 'none', refusals: openRefusals } as const
const document = (description: string) => answered(object({}, open), description)
const hello = answered(object({ name: word(['model-gateway']) }), 'Yes.')

export const gatewayOperations: readonly Operation[] = [
  {
    ...base,
    id: 'isAlive',
    path: '/healthz',
    summary: 'Whether the process is alive',
    answers: [answered(object({ status: word(['ok']) }), 'It is.')],
  },
  {
    ...base,
    id: 'isReady',
    path: '/readyz',
    summary: 'Whether it takes work',
    answers: [
      answered(object({ status: word(['ready']) }), 'It does.'),
      answered(
        object({ status: text() }),
        "Not now: 'draining', 'store not writable', or by how much its clock is wrong.",
        { status: 503 },
      ),
    ],
    refusals: ['internal_error', 'invalid_request'],
  },
  {
    ...base,
    id: 'listKeys',
    path: '/gateway/v1/keys',
    summary: 'Public keys with which receipts and bills are checked',
    answers: [
      answered(
        object({
          keys: list(
            object({
              key: text(),
              algorithm: word(['Ed25519']),
              current: flag('Whether it signs now.'),
              pem: text(),
            }),
          ),
        }),
        'The keys.',
      ),
    ],
  },
  {
    ...base,
    id: 'getMetrics',
    path: '/metrics',
    summary: 'Numbers for Prometheus, where they are not turned off or on a port of their own',
    answers: [
      {
        status: 200,
        description: 'The numbers.',
        content: {
          'text/plain': { schema: text() },
          'application/openmetrics-text': { schema: text() },
        },
      },
      {
        status: 503,
        description: 'The processes of this gateway did not answer in time.',
        content: { 'text/plain': { schema: text() } },
      },
    ],
    refusals: ['internal_error', 'invalid_request'],
  },
  {
    ...base,
    id: 'getConfigSchema',
    path: '/config.schema.json',
    summary: 'JSON Schema of gateway.yaml',
    answers: [document('The schema.')],
  },
  {
    ...base,
    id: 'getOpenApi',
    path: '/openapi.json',
    summary: 'This document',
    answers: [
      document('OpenAPI 3.1.'),
      { status: 304, description: 'Unchanged.', headers: ['etag'] },
    ],
  },
  {
    ...base,
    id: 'getAdminOpenApi',
    path: '/openapi.admin.json',
    summary: 'The same for the admin API',
    answers: [
      document('OpenAPI 3.1.'),
      { status: 304, description: 'Unchanged.', headers: ['etag'] },
    ],
  },
  {
    ...base,
    id: 'getLlmsText',
    path: '/llms.txt',
    summary: 'What this is and where to read on, for programs that read text',
    answers: [
      {
        status: 200,
        description: 'The text.',
        headers: ['etag'],
        content: { 'text/plain': { schema: text() } },
      },
      { status: 304, description: 'Unchanged.', headers: ['etag'] },
    ],
  },
  { ...base, id: 'sayHello', path: '/', summary: 'Whether anybody is there', answers: [hello] },
  {
    ...base,
    id: 'sayHelloToTools',
    path: '/api/hello',
    summary: 'The same for terminal tools',
    answers: [hello],
  },
]
