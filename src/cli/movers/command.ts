// gateway import: another gateway's customers, keys, channels and prices into this one, as it runs.
import type { Command, Context, Flags, Outcome } from '../terminal/command.ts'
import { applyPlan } from './apply.ts'
import { planLitellm } from './litellm/index.ts'
import { planNewApi } from './new-api/index.ts'
import type { Plan } from './plan.ts'
import { reportText } from './report.ts'

const common: Flags = {
  'dry-run': { summary: 'print what would be made and what cannot; change nothing' },
  exchange: {
    value: 'RATE',
    summary: "the gateway's currency for one US dollar, if it is another",
  },
}

async function importPlan(context: Context, plan: Plan): Promise<Outcome> {
  const report = await applyPlan(context.admin, plan, context.line.on('dry-run'))
  return { answer: report, text: reportText(report, context.url) }
}

export const importCommands: readonly Command[] = [
  {
    path: ['import', 'litellm'],
    args: [],
    summary: 'carry over what LiteLLM has; its keys go on working',
    flags: {
      config: { value: 'FILE', required: true, summary: 'config.yaml of the proxy' },
      database: { value: 'URL', summary: 'postgres://… of the proxy: keys, teams, budgets' },
      prices: {
        value: 'FILE',
        summary: 'model_prices_and_context_window.json, for models without costs',
      },
      ...common,
    },
    run: async (context) => importPlan(context, await planLitellm(context)),
  },
  {
    path: ['import', 'new-api'],
    args: [],
    summary: 'carry over what new-api has; its keys go on working',
    flags: {
      database: {
        value: 'URL|FILE',
        required: true,
        summary: 'postgres://…, the file of SQLite, or a dump of MySQL',
      },
      ...common,
    },
    run: async (context) => importPlan(context, await planNewApi(context)),
  },
]
