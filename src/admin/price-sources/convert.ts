// A public price file as a list of prices of this gateway. Publishes nothing: the list is imported by the
// route that imports lists.
import { Refusal, refuse } from '../../contract/errors.ts'
import { readAside } from '../catalog/read-aside.ts'
import { forFinance } from '../permission.ts'
import { type Ask, routesOf } from '../route.ts'
import { sourceList, sourceRequest } from './source-schema.ts'

/** The larger of the two public files has less than half of it. */
const maxSourceBytes = 8 * 1024 * 1024

async function convertList({ body }: Ask<{ body: typeof sourceRequest }>) {
  const made = await readAside('source', JSON.stringify(body), 'text')
  if (made instanceof Refusal) return made
  if ('problem' in made) {
    return refuse('invalid_request', `'${made.field}' ${made.problem}`, { param: made.field })
  }
  const { models, prices, remarks } = made
  return {
    models: models.length,
    prices: prices.length,
    remarks,
    // JSON is YAML, too.
    text: listText({ models, prices }),
  }
}

/** A line for each, so that a problem can be told by its line. */
const listText = (list: { models: readonly object[]; prices: readonly object[] }): string =>
  `{"models":[\n${rows(list.models)}\n],"prices":[\n${rows(list.prices)}\n]}\n`

const rows = (items: readonly object[]): string =>
  items.map((item) => JSON.stringify(item)).join(',\n')

const route = routesOf({ tag: 'Models and prices', thing: 'list', permission: forFinance })

export const priceSourceRoutes = [
  route('POST /prices/convert', {
    id: 'convertPrices',
    summary: 'Make a list of prices from a public price file',
    description:
      'Reads the public lists of models.dev and LiteLLM. Publishes nothing: `POST /prices/import` takes the list.',
    body: sourceRequest,
    maxBodyBytes: maxSourceBytes,
    examples: {
      margin: {
        source: 'litellm',
        text: '{"gpt-x":{"mode":"chat","input_cost_per_token":1e-6,"output_cost_per_token":4e-6}}',
        margin: '1.2',
        rate: '7.2',
        round: 6,
        only: 'gpt-*',
      },
    },
    answer: sourceList,
    returns: 'The list, and what was left out.',
    handle: convertList,
  }),
]
