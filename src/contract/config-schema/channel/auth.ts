// Accounts at clouds, which stand in place of keys: what signs a channel's requests, or gets the tokens for
// them. All of it is kept as one key, sealed like keys; a channel shows only where it belongs.
import { z } from 'zod'
import type { Channel, CloudCredential } from '../../catalog.ts'
import { endpointOf } from '../addresses.ts'
import { baseUrl, strict, text } from '../fields.ts'
import type { Preset } from '../preset.ts'

const word = (description: string) =>
  text(/^[\x21-\x7e]{1,4096}$/, 'printable characters without spaces', description)

const place = (description: string) =>
  text(/^[a-z0-9-]{1,40}$/, 'small letters, digits and dashes', description)

const aws = strict({
  access_key: word('Id of the access key.'),
  secret_key: word('The secret access key.'),
  session_token: word('Session token of temporary credentials.').optional(),
  region: place('Region of the host, such as us-east-1.'),
})

const azure = strict({
  tenant: word('Id or domain of the tenant.').refine((each) => !/[/?#\\]/.test(each), {
    error: 'must be an id or a domain',
  }),
  client_id: word('Id of the application.'),
  client_secret: word('Secret of the application.'),
  authority: baseUrl(
    'Where tokens come from. Default https://login.microsoftonline.com.',
  ).optional(),
})

/** Of the JSON file that the cloud gives out; the rest of it is not needed. */
const accountFields = z.object({
  client_email: word('Its address.'),
  private_key: z
    .string()
    .regex(/-----BEGIN (?:RSA )?PRIVATE KEY-----[\s\S]+-----END/, 'must be a private key in PEM')
    // From a variable it often has its line ends as two characters.
    .transform((pem) => pem.replaceAll('\\n', '\n')),
  private_key_id: word('Id of the key.').optional(),
  project_id: word('Its project.').optional(),
  token_uri: baseUrl('Where tokens come from.').optional(),
})

const serviceAccount = z
  .union([z.string(), z.record(z.string(), z.unknown())])
  .transform((given, context): z.infer<typeof accountFields> => {
    const value = typeof given === 'string' ? parsed(given) : given
    const read = accountFields.safeParse(value)
    if (read.success) return read.data
    const [issue] = value === undefined ? [] : read.error.issues
    const message =
      issue === undefined
        ? 'must be the JSON of a service account'
        : `needs ${issue.path.join('.') || 'fields'}: ${issue.message}`
    context.addIssue({ code: 'custom', message })
    return z.NEVER
  })
  .meta({ description: 'A service account: a mapping, or its JSON, which may come from a file.' })

/** Whose tokens are for the account of the machine: they go to hosts of Google alone. */
const machineHost = /^(?:metadata(?:\.google\.internal)?|169\.254\..*|\[f[de].*\])\.?$/i

const google = strict({
  service_account: serviceAccount.optional(),
  metadata: baseUrl(
    "Another server of metadata, in place of the machine's own; without service_account.",
  )
    .refine((url) => !machineHost.test(URL.parse(url)?.hostname ?? ''), {
      error: "must be left out for the machine's own",
    })
    .optional(),
}).refine((given) => given.service_account === undefined || given.metadata === undefined, {
  error: 'must not have both service_account and metadata',
})

function parsed(given: string): unknown {
  try {
    return JSON.parse(given)
  } catch {
    return undefined
  }
}

export const cloudAuth = strict({
  aws: aws.meta({ description: 'Signs requests (protocol bedrock).' }).optional(),
  google: google
    .meta({ description: 'Tokens of a service account, or of the machine.' })
    .optional(),
  azure: azure.meta({ description: 'Tokens of an application in Entra ID.' }).optional(),
})
  .refine((auth) => Object.values(auth).filter((each) => each !== undefined).length === 1, {
    error: 'must have exactly one of aws, google, azure',
  })
  .meta({ description: 'An account at a cloud, in place of keys.' })

export const vertexPlace = strict({
  project: text(
    /^[a-z0-9:.-]{1,64}$/,
    'the id of a project',
    "Id of the project. Left out, the service account's.",
  ).optional(),
  location: place('Location, such as europe-west1 or global.'),
}).meta({ description: 'Calls go to Vertex AI: generate and messages in its form.' })

type DeclaredAuth = z.infer<typeof cloudAuth>
type DeclaredVertex = z.infer<typeof vertexPlace>

/** What a channel shows of it, and the key that it is kept as. */
export function cloudFrom(
  auth: DeclaredAuth,
  vertex: DeclaredVertex | undefined,
): Pick<Channel, 'keys' | 'cloud'> {
  const { aws: signs, google: by, azure: entra } = auth
  const project = vertex?.project ?? by?.service_account?.project_id
  const credential: CloudCredential = signs
    ? { kind: 'aws', ...signs }
    : by
      ? { kind: 'google', account: by.service_account, metadata: by.metadata, project }
      : { kind: 'azure', ...entra! }
  return {
    keys: [JSON.stringify(credential)],
    cloud: {
      kind: credential.kind,
      ...(signs && { region: signs.region }),
      ...(vertex && { location: vertex.location }),
      ...(by && !by.service_account && !by.metadata && { machine: true as const }),
    },
  }
}

/** Never more than where it belongs. */
export const cloudView = ({ cloud }: Pick<Channel, 'cloud'>) => ({
  auth: cloud === undefined ? null : { [cloud.kind]: cloud.region ? { region: cloud.region } : {} },
  vertex: cloud?.location === undefined ? null : { location: cloud.location },
})

interface Parts {
  protocols: Readonly<Record<string, unknown>> | undefined
  base_url?: string | undefined
  keys: readonly string[] | undefined
  auth: Record<string, unknown> | undefined
  vertex: Record<string, unknown> | undefined
}

/** What does not go together: the field, and why. */
export function cloudProblem({
  protocols = {},
  base_url,
  keys,
  auth,
  vertex,
}: Parts): [string, string] | undefined {
  if (auth !== undefined && keys !== undefined) return ['auth', 'and keys cannot both be given']
  const others = Object.keys(protocols).filter((name) => name !== 'bedrock')
  if (auth?.['aws'] && others.length > 0) {
    return ['auth', `signs requests of the protocol bedrock, not of ${others[0]}`]
  }
  if (auth !== undefined && !auth['aws'] && 'bedrock' in protocols) {
    return ['auth', 'must be aws for the protocol bedrock']
  }
  const google = auth?.['google']
  const machine = machineProblem(google, [base_url, ...Object.values(protocols)])
  if (machine !== undefined) return ['auth', machine]
  if (vertex === undefined) return undefined
  if (hasNoProject(google) && vertex['project'] === undefined)
    return ['vertex', 'needs project: the account does not name one']
  if (!auth?.['google']) return ['vertex', 'needs auth.google']
  const wrong = Object.keys(protocols).find((name) => name !== 'generate' && name !== 'messages')
  return wrong === undefined ? undefined : ['vertex', `has no protocol ${wrong}`]
}

const ownsHost = (address: unknown): boolean =>
  typeof address !== 'string' || /^https:\/\/(?:[\w-]+\.)*googleapis\.com(?:[:/]|$)/.test(address)

/** Undefined for an account that is stored: it was checked when it came. */
const partsOf = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === 'object' && value !== null ? { ...value } : undefined

/** Tokens of the machine may do whatever it may, so that no channel can be made to collect them. */
function machineProblem(google: unknown, addresses: readonly unknown[]): string | undefined {
  const given = partsOf(google)
  if (given === undefined || given['service_account'] || given['metadata']) return undefined
  return addresses.every(ownsHost)
    ? undefined
    : 'without service_account goes to https hosts of googleapis.com only'
}

function hasNoProject(google: unknown): boolean {
  const given = partsOf(google)
  return given !== undefined && !partsOf(given['service_account'])?.['project_id']
}

/** Its strings are secrets, but for where it belongs. */
export function secretsIn(key: string): string[] {
  const { region: _, authority: __, kind: ___, metadata: _____, account, ...rest } = JSON.parse(key)
  const { token_uri: ____, private_key: pem = '', ...named } = account ?? {}
  const lines = String(pem)
    .split('\n')
    .filter((line) => /^[\w+/=]{8,}$/.test(line))
  return [...Object.values({ ...rest, ...named }), ...lines].filter(
    (each): each is string => typeof each === 'string' && each.length >= 4,
  )
}

const vertexMakers: Readonly<Record<string, string>> = {
  generate: 'google/models/{model}:generateContent',
  messages: 'anthropic/models/{model}:rawPredict',
}

/** The URL of its calls, without the project; undefined for other channels. */
export function vertexEndpoint(
  { cloud }: Pick<Channel, 'cloud'>,
  protocol: string,
  address: string,
): string | undefined {
  if (cloud?.location === undefined) return undefined
  const path = `/v1/projects/…/locations/${cloud.location}/publishers/${vertexMakers[protocol]}`
  return `${address.replace(/\/+$/, '')}${path}`
}

/** The URL of the calls of a preset's channel. */
export function presetEndpoint(
  { cloud }: Pick<Preset, 'cloud'>,
  protocol: string,
  address: string,
): string {
  const vertex = { kind: 'google', location: 'LOCATION' } as const
  const own = cloud === 'google' ? vertexEndpoint({ cloud: vertex }, protocol, address) : undefined
  return own ?? endpointOf(protocol, address)
}
