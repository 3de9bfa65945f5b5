// LiteLLM as a plan: its config, and its database if that is given.
import { parse } from 'yaml'
import { withNumbersAsText } from '../../../contract/price-sources/decimal.ts'
import { isObject } from '../../../lib/json/parse.ts'
import { readText } from '../../admin/prices.ts'
import type { Context } from '../../terminal/command.ts'
import { misuse } from '../../terminal/stop.ts'
import { dollarRate } from '../money.ts'
import { Plan } from '../plan.ts'
import { readTables } from '../tables.ts'
import { addCustomers, tableNames } from './customers.ts'
import { addChannels, nameHere, readDeployments, Variables } from './deployments.ts'
import { addPrices } from './prices.ts'

type Json = Readonly<Record<string, unknown>>

export async function planLitellm(context: Context): Promise<Plan> {
  const { line, env } = context
  const plan = new Plan('LiteLLM')
  const path = line.text('config')!
  const config = configIn(path)
  const rate = await dollarRate(context)
  const deployments = readDeployments(plan, config['model_list'], pricesIn(line.text('prices')))
  addChannels(plan, deployments, new Variables(env, config['environment_variables']))
  addPrices(plan, deployments, rate)
  addRouting(plan, partOf(config, 'router_settings'), partOf(config, 'litellm_settings'))
  const { master_key: master } = partOf(config, 'general_settings')
  if (master !== undefined) {
    plan.leave('setting', 'master_key', "the gateway's admin API has a token of its own")
  }
  const database = line.text('database')
  if (database === undefined) {
    plan.leave('setting', 'database', 'keys, teams and budgets: give --database to carry them')
  } else addCustomers(plan, await readTables(database, tableNames), rate)
  return plan
}

function configIn(path: string): Json {
  let value: unknown
  try {
    value = parse(readText(path))
  } catch (error) {
    if (!(error instanceof Error) || 'exitCode' in error) throw error
    throw misuse(`${path} is not YAML: ${error.message.split('\n')[0]}`)
  }
  if (isObject(value) && Array.isArray(value['model_list'] ?? [])) return value
  throw misuse(`${path} is no config of LiteLLM: it must be a mapping with model_list`)
}

/** With every number as it is written. */
function pricesIn(path: string | undefined): Json {
  if (path === undefined) return {}
  try {
    const value: unknown = JSON.parse(withNumbersAsText(readText(path)))
    if (isObject(value)) return value
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  throw misuse(`${path} is no list of prices of LiteLLM: it must be a JSON object`)
}

const partOf = (config: Json, name: string): Json => {
  const part = config[name]
  return isObject(part) ? part : {}
}

function addRouting(plan: Plan, router: Json, settings: Json): void {
  for (const [name, target] of Object.entries(partOf(router, 'model_group_alias'))) {
    const model = isObject(target) ? String(target['model']) : String(target)
    const here = nameHere(plan, model)
    if (plan.models.has(here)) plan.aliases.set(nameHere(plan, name), here)
    else plan.leave('model', name, `another name of '${model}', which is not carried`)
  }
  const fallbacks = router['fallbacks'] ?? settings['fallbacks']
  if (Array.isArray(fallbacks) && fallbacks.length > 0) {
    plan.leave('setting', 'fallbacks', 'make a virtual model that names the models in order')
  }
  const byLatency = router['routing_strategy'] === 'latency-based-routing'
  if (byLatency) {
    for (const [name, draft] of plan.models) plan.models.set(name, { ...draft, routing: 'latency' })
    const reason =
      'by the time to the first byte of the last calls; routing_strategy_args is not carried'
    plan.change('setting', 'routing_strategy', reason)
  }
  const carried = new Set([
    ...['model_group_alias', 'fallbacks'],
    ...(byLatency ? ['routing_strategy', 'routing_strategy_args'] : []),
  ])
  const others = Object.keys(router).filter((name) => !carried.has(name))
  if (others.length > 0) plan.leave('setting', 'router_settings', others.join(', '))
}
