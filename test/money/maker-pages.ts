// Where the rates of the models in maker-prices.ts can be read: copies of pages as public search has them, read on
// 2026-11-19. `maker` is a page of the maker itself, `quoted` another's page that says it repeats the maker's, `nobody` a
// model whose price was found nowhere but in a public list. A copy seldom tells its day; `of` is the one it tells.

export interface MakerPage {
  by: 'maker' | 'quoted' | 'nobody'
  urls: readonly string[]
  of?: string
  /** Dollars per million tokens, as the page has them. */
  rates: readonly string[]
  /** Of a tier or place that the row was served at, where the page names the factor and not the product. */
  times?: string
  /** Rates of the row that the page does not name. */
  unnamed?: readonly string[]
}

const claudePricing = 'platform.claude.com/docs/en/about-claude/pricing'
const claude = (...rates: string[]): MakerPage => ({ by: 'maker', urls: [claudePricing], rates })
const overview = (name: string, ...rates: string[]): MakerPage => ({
  by: 'maker',
  urls: [`platform.claude.com/docs/zh-CN/models/${name}/overview`],
  rates,
})
const openaiPlans: Pick<MakerPage, 'by' | 'urls' | 'of'> = {
  by: 'quoted',
  urls: [
    'github.com/api-evangelist/openai/blob/main/plans/openai-plans-pricing.yml',
    'developers.openai.com/api/docs/pricing',
  ],
  of: '2026-05-04',
}
const googlePlans: Pick<MakerPage, 'by' | 'urls' | 'of'> = {
  by: 'quoted',
  urls: [
    'github.com/api-evangelist/gemini/blob/main/plans/gemini-plans-pricing.yml',
    'ai.google.dev/gemini-api/docs/pricing',
  ],
  of: '2026-09-20',
}
/** It gives half the price for flex and batch, and twice the price for priority. */
const openaiTiers = 'tokenmix.ai/blog/openai-api-cost-2026-gpt-5-5-5-4-nano-batch'
const older = (...rates: string[]): MakerPage => ({
  by: 'quoted',
  urls: ['benchlm.ai/blog/posts/openai-api-pricing'],
  of: '2026-04-13',
  rates,
})
const sol: MakerPage = {
  by: 'maker',
  urls: ['developers.openai.com/pt-BR/api/docs/models/gpt-5.6-sol'],
  // Said to hold until 2026-11-21 at least.
  rates: ['4', '0.4', '20'],
}
const gpt54 = { ...openaiPlans, rates: ['2.5', '0.25', '15'] }
const gpt6: Pick<MakerPage, 'by' | 'urls' | 'of'> = {
  by: 'quoted',
  urls: ['github.com/merefield/codexometer/releases/tag/v0.18.4'],
  of: '2026-09-22',
}
const nobody = (...unnamed: string[]): MakerPage => ({ by: 'nobody', urls: [], rates: [], unnamed })

export const makerPages: Readonly<Record<string, MakerPage>> = {
  'gpt-5.6': sol,
  'gpt-5.6-sol': { ...sol, times: '2', urls: [...sol.urls, openaiTiers] },
  'gpt-5.3-chat-latest': nobody('1.75', '14'),
  'gpt-5.4': { ...gpt54, times: '0.5', urls: [...gpt54.urls, openaiTiers] },
  // The page has 270,000 tokens as the bound and names no rates above it; twice and 1.5 times are said of gpt-5.6-sol.
  'gpt-5.4-2026-03-05': { ...gpt54, unnamed: ['5', '22.5'] },
  'gpt-5.5-pro': { ...openaiPlans, rates: ['30', '180'] },
  'gpt-5.4-pro': {
    by: 'quoted',
    urls: ['www.morphllm.com/openai-api-pricing', openaiTiers],
    of: '2026-06',
    rates: ['30', '180'],
    times: '0.5',
  },
  'gpt-5.4-mini': {
    ...openaiPlans,
    rates: ['0.75', '0.075', '4.5'],
    times: '2',
    urls: [...openaiPlans.urls, openaiTiers],
  },
  'gpt-5.4-nano': {
    ...openaiPlans,
    rates: ['0.2', '0.02', '1.25'],
    times: '0.5',
    urls: [...openaiPlans.urls, openaiTiers],
  },
  'gpt-5.1': older('1.25', '0.125', '10'),
  'gpt-5.2': { ...older('1.75', '0.175', '14'), times: '2' },
  'gpt-5.2-pro': older('21', '168'),
  'claude-sonnet-5': overview('sonnet-5', '2', '10', '2.5', '4', '0.2'),
  'claude-sonnet-4-6': {
    ...claude('3', '3.75', '6', '0.3', '15'),
    urls: ['platform.claude.com/docs/zh-CN/about-claude/pricing'],
  },
  'claude-sonnet-4-5-20250929-v1:0': {
    by: 'maker',
    urls: ['docs.anthropic.com/en/docs/about-claude/pricing'],
    // Above 200,000 tokens; the page has the factors of a cache, not the products.
    rates: ['6', '22.5'],
    unnamed: ['0.6', '7.5', '12'],
  },
  'claude-opus-4-1': claude('15', '18.75', '30', '1.5', '75'),
  'claude-opus-4-5': claude('5', '6.25', '10', '0.5', '25'),
  'claude-opus-4-6': {
    ...claude('5', '6.25', '10', '0.5', '25'),
    urls: [claudePricing, 'platform.claude.com/docs/en/build-with-claude/fast-mode'],
    times: '6',
  },
  'claude-opus-4-7': { ...claude('5', '6.25', '10', '0.5', '25'), times: '1.1' },
  'claude-fable-5': claude('10', '12.5', '20', '1', '50'),
  'gemini-3.1-pro-preview': {
    ...googlePlans,
    // The maker says from 75 to 100 % more for priority; 1.8 is the list's.
    rates: ['4', '18'],
    times: '1.8',
    urls: [...googlePlans.urls, 'ai.google.dev/gemini-api/docs/optimization'],
  },
  'gemini-3-flash-preview': nobody('0.9', '1.8', '5.4'),
  'gemini-3.5-flash': { ...googlePlans, rates: ['1.5', '9'], unnamed: ['1'] },
  'gemini-omni-flash-preview': nobody('1.5', '9'),
  'gemini-3-pro-image-preview': { ...googlePlans, rates: ['120'], unnamed: ['2'] },
  'gpt-image-1': nobody('5', '10', '40'),
  'claude-fable-5-1': claude('10', '12.5', '20', '0.25', '50'),
  'claude-opus-5-5': {
    ...overview('opus-5-5', '4', '20', '5', '8', '0.2'),
    // Fast mode at 8 and 40 dollars is another's word.
    urls: [
      'platform.claude.com/docs/zh-CN/models/opus-5-5/overview',
      'github.com/TheKrush/PromptFuel/releases/tag/v1.0.21',
    ],
    times: '2',
  },
  // The copy has 0.20 for reading a cache; another says 0.10 since 2026-10-07. The row reads none.
  'claude-sonnet-5-5': overview('sonnet-5-5', '2', '10', '2.5', '4', '0.2'),
  'claude-haiku-5-5': {
    by: 'quoted',
    urls: [
      'docs.rs/synaps/0.10.2/synaps_cli/pricing',
      'platform.claude.com/docs/en/models/haiku-5-5/overview.md',
    ],
    of: '2026-10',
    rates: ['0.5', '2.5'],
    // By the factors of 0.1, 1.25 and 2 that hold for its family.
    unnamed: ['0.05', '0.625', '1'],
  },
  'gpt-6-astra': {
    by: 'maker',
    urls: ['developers.openai.com/zh-Hans/api/docs/models'],
    rates: ['10', '50'],
    // Six times for ultrafast is another's word; reading a cache at a tenth, too.
    times: '6',
    unnamed: ['6'],
  },
  'gpt-6-sol': { ...gpt6, rates: ['2', '0.2', '2.5', '10'] },
  'gpt-6-luna': { ...gpt6, rates: ['0.1', '0.01', '0.125', '0.5'] },
  'grok-4.7': {
    by: 'quoted',
    urls: ['apidog.com/blog/how-to-use-grok-4-7-api', 'docs.x.ai/developers/grok-4-7'],
    of: '2026-09-29',
    rates: ['4', '1', '12'],
  },
  'gemini-3.8-flash': { ...googlePlans, rates: ['0.75', '3.75'], unnamed: ['0.075', '1'] },
  // Off the peak; twice as much at 01:00 to 04:00 and 06:00 to 10:00 UTC on working days.
  'deepseek-flash': {
    by: 'maker',
    urls: ['api-docs.deepseek.com/quick_start/pricing'],
    rates: ['0.003', '0.15', '0.6'],
  },
  'kimi-k3.1-pro': {
    by: 'quoted',
    urls: ['docs.apiyi.com/api-capabilities/kimi-k3-1/overview.md'],
    of: '2026-10-25',
    rates: ['2', '10', '0.2', '4'],
  },
  'glm-5.3': {
    by: 'quoted',
    urls: ['openrouter.ai/~z-ai/glm-latest/api'],
    of: '2026-08-19',
    rates: ['1.4', '4.4', '0.26'],
  },
}
