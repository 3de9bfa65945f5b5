// The setting for how finished files reach callers, in wire form.
import { z } from 'zod'
import { strict, text } from './fields.ts'

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
