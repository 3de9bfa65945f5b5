// Models as they are declared: with their own upstreams, as a name over other models, or as another
// name of one. Whether the models that a declaration names exist is checked with the whole catalog.
import { z } from 'zod'
import { fallbackModes, modelKinds, type Protocol, virtualPrices } from '../catalog.ts'
import { dataPolicyFields } from './channels.ts'
import { count, modelName, modelPattern, strict, unique } from './fields.ts'
import { hasOwnProtocol, interfaces, protocols } from './names.ts'

const name = modelName('Name that callers use.')
const kind = z.enum(modelKinds).meta({ description: 'What the model makes.' })
const displayName = z
  .string()
  .min(1)
  .max(128)
  .meta({ description: 'Name shown to people.' })
  .optional()

export const modelShape = strict({
  name,
  kind,
  interfaces: z
    .array(z.enum(interfaces))
    .min(1)
    .refine(unique, 'must not name an interface twice')
    .meta({ description: 'Interfaces that offer it.' }),
  protocols: z
    .array(z.enum(protocols))
    .min(1)
    .refine(unique, 'must not name a protocol twice')
    .meta({ description: 'Upstream protocols that serve it, best first.' })
    .optional(),
  display_name: displayName,
  context_window: count('Maximum input tokens of one call. Default 1000000.').optional(),
  max_output_tokens: count('Maximum output tokens of one answer. Default 32768.').optional(),
  max_tokens_per_image: count('Maximum input tokens of one image. Default 16384.').optional(),
  translate: z
    .boolean()
    .meta({
      description:
        'Whether a text model is also served in the text styles that its channels do not speak. Default true.',
    })
    .optional(),
  routing: z
    .enum(['load', 'latency'])
    .meta({
      description:
        'How a channel is chosen among those of equal priority: the least busy, or the one whose answers begin first. Default load.',
    })
    .optional(),
  ...dataPolicyFields,
})

export const plainModelDeclaration = modelShape
  .superRefine((model, context) => {
    const spoken = protocolsOf(model)
    for (const use of model.interfaces) {
      if (!hasOwnProtocol(use) || (spoken as string[]).includes(use)) continue
      const message = `must have ${use}, because the interface ${use} is asked in its own protocol`
      context.addIssue({ code: 'custom', path: ['protocols'], message })
    }
    if (spoken.length > 0) return
    const message = `must be given, because ${model.interfaces[0]} is no upstream protocol`
    context.addIssue({ code: 'custom', path: ['protocols'], message })
  })
  .meta({ title: 'Model', description: 'Adds a model to the catalog, or replaces one.' })

/** More would only delay the answer to a call that none of them can serve. */
const maxMembers = 16

const member = z.union([
  modelName('A model of the catalog.'),
  strict({
    model: modelName('A model of the catalog.'),
    weight: z
      .number()
      .min(0)
      .max(1_000_000)
      .meta({ description: 'Share of the calls that go to it first.' })
      .optional(),
  }),
])

const memberName = (each: z.infer<typeof member>): string =>
  typeof each === 'string' ? each : each.model

export const virtualShape = strict({
  name,
  kind,
  virtual: z
    .array(member)
    .min(1)
    .max(maxMembers)
    .refine((members) => unique(members.map(memberName)), 'must not name a model twice')
    .meta({
      description:
        'Models that serve it, best first: the next one serves when one cannot. Those with a weight are picked by weight.',
    }),
  price: z
    .enum(virtualPrices)
    .meta({
      description:
        'own: calls cost the price of this name. served: that of the model that served, and the hold is for the most expensive one. Default served.',
    })
    .optional(),
  display_name: displayName,
})

export const aliasShape = strict({
  name: modelPattern('Name that callers use, or a prefix that ends in *.'),
  alias: modelName('The model that serves it.'),
  display_name: displayName,
})

export const modelDeclaration = z
  .union([
    plainModelDeclaration,
    virtualShape.meta({ title: 'Virtual model', description: 'A name over other models.' }),
    aliasShape.meta({ title: 'Alias', description: 'Another name of a model.' }),
  ])
  .meta({ description: 'A model, a virtual model or an alias.' })

export type ModelDeclaration = z.infer<typeof modelDeclaration>

export const fallbackMode = z.enum(fallbackModes).meta({
  description:
    'Whether another model of a virtual model may serve when the first choice cannot. Default allowed.',
})

// An interface and the protocol of the same name share one wire format.
export function protocolsOf(model: z.infer<typeof modelShape>): readonly Protocol[] {
  return model.protocols ?? protocols.filter((each) => model.interfaces.some((own) => own === each))
}
