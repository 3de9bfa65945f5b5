// The settings for keeping results longer than the upstream does and for how they reach callers, in
// wire form and as a value. Knows no disk and no network.
import { z } from 'zod'
import { baseUrl, count, strict, text } from './fields.ts'

const unitBytes = { KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12 }

/** '500MB' -> 500000000   '1.5GB' -> 1500000000   '20' -> undefined */
export function parseBytes(value: string): number | undefined {
  const parts = /^(\d{1,6}(?:\.\d{1,3})?) ?(KB|MB|GB|TB)$/.exec(value)
  if (parts === null) return undefined
  return Math.round(Number(parts[1]) * unitBytes[parts[2] as keyof typeof unitBytes])
}

const size = (description: string) =>
  z
    .string({ error: () => 'must be a size with its unit, such as 500MB or 20GB' })
    .refine(
      (value) => (parseBytes(value) ?? 0) > 0,
      'must be a size above 0 with its unit, such as 500MB or 20GB',
    )
    .meta({ description, examples: ['20GB'] })

const secret = (description: string) =>
  text(/^[\x21-\x7e]{1,1024}$/, 'printable characters without spaces', description)

const s3Declaration = strict({
  endpoint: baseUrl('Address of the store, such as https://s3.example. May be private.'),
  region: text(
    /^[a-z0-9-]{1,64}$/,
    'a region such as us-east-1',
    'Region requests are signed for.',
  ),
  bucket: text(/^[a-z0-9][a-z0-9.-]{1,62}$/, 'the name of a bucket', 'Bucket; it must exist.'),
  access_key: secret('Access key.'),
  secret_key: secret('Secret key.'),
  prefix: text(
    /^(?!\/)(?!.*(?:\/\/|\.\.))[A-Za-z0-9._/-]{0,256}$/,
    'letters, digits, dots, dashes, underscores and single slashes',
    'Prefix of every object name. Left out, none.',
  ).optional(),
  path_style: z
    .boolean()
    .meta({
      description: 'Whether the bucket is in the path instead of the host name. Default true.',
    })
    .optional(),
}).meta({ description: 'An S3-compatible store.' })

export const mediaDeclaration = strict({
  keep: z.enum(['data', 's3']).meta({
    description: 'Where copies are stored: the data directory, or an S3-compatible store.',
  }),
  budget: size(
    'Maximum total size; beyond it the oldest copies are deleted. Default 20GB.',
  ).optional(),
  days: count('Days before a copy is deleted. Default 30.').max(3650).optional(),
  s3: s3Declaration.optional(),
})
  .superRefine((media, context) => {
    if (media.keep !== 's3' || media.s3 !== undefined) return
    const message = 'must be given, because results are kept there'
    context.addIssue({ code: 'custom', path: ['s3'], message })
  })
  .meta({
    description: 'Stores copies of results when tasks succeed. Left out, nothing is copied.',
  })

export type MediaDeclaration = z.infer<typeof mediaDeclaration>

const defaultBudgetBytes = 20e9
const defaultDays = 30
const dayMs = 24 * 3_600_000

export const keptBytesOf = ({ budget }: MediaDeclaration): number =>
  (budget === undefined ? undefined : parseBytes(budget)) ?? defaultBudgetBytes

export const keptMsOf = ({ days = defaultDays }: MediaDeclaration): number => days * dayMs

export const downloadsDeclaration = strict({
  redirect: z
    .boolean()
    .meta({
      description:
        "Redirect callers to the upstream's address if it is public and needs no key. " +
        'Default false: the gateway passes the bytes through.',
    })
    .optional(),
  hosts: z
    .array(
      text(
        /^(?:\*\.)?[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?$/,
        'a host name in small letters, or *. and a domain',
        'A host, or *. and a domain for every host below it.',
      ),
    )
    .min(1)
    .meta({
      description:
        "Hosts that results may be fetched from besides the channel's own, as those of this " +
        'region. Left out, any public one.',
    })
    .optional(),
}).meta({ description: 'How callers download results.' })
