// Who the customers of the demonstration are, what they use and how they pay; and who works for the company.
import type { DemoModel } from './offer.ts'

interface Use {
  model: DemoModel['name']
  weight: number
  /** Input and output tokens of a usual call. */
  size?: readonly [input: number, output: number]
}

export interface Customer {
  name: string
  profile: {
    display_name: string
    legal_name: string
    address: string
    tax_id?: string
    email: string
    contact: string
  }
  zone: string
  /** Calls on a usual working day, and how many of them remain at the weekend. */
  perDay: number
  weekend: number
  /** Of the last day over the first one: customers grow and shrink. */
  growth: number
  uses: readonly Use[]
  /** Names of tokens, and how much of the work is theirs; a tag of their calls. */
  tokens: readonly { name: string; weight: number; team?: string; budget?: Budget }[]
  /** The opening credit, and what is paid whenever the balance falls below half of it. */
  credit: number
  balance_low?: string
  budget?: Budget
  /** A share of the text that comes from the upstream's prompt cache. */
  cached?: number
  /** The day on which it became a customer; the first one if left out. */
  since?: number
  /** It pays in small parts, at the last moment. */
  isLate?: true
}

interface Budget {
  amount: string
  per: 'day' | 'week' | 'month'
  zone?: string
}

const agents = [120_000, 4_200] as const
const chat = [18_000, 1_500] as const
const documents = [190_000, 3_100] as const
const short = [4_200, 420] as const

export const customers: readonly Customer[] = [
  {
    name: 'nordlys-studio',
    profile: {
      display_name: 'Nordlys Studio',
      legal_name: 'Nordlys Studio AS',
      address: 'Storgata 44\n9008 Tromsø\nNorway',
      tax_id: 'NO 921 480 337 MVA',
      email: 'regnskap@nordlys.example',
      contact: 'Ingrid Solheim',
    },
    zone: 'Europe/Oslo',
    perDay: 14,
    weekend: 0.4,
    growth: 1.5,
    uses: [
      { model: 'wan-2.5-t2v', weight: 0.8 },
      { model: 'kling-2.5-t2v', weight: 0.5 },
      { model: 'gpt-image-1', weight: 0.5 },
      { model: 'claude-sonnet-4.5', weight: 8, size: chat },
    ],
    tokens: [
      { name: 'storyboard', weight: 6, team: 'story' },
      { name: 'trailers', weight: 3, team: 'marketing' },
    ],
    credit: 600,
    budget: { amount: '900.00', per: 'month', zone: 'Europe/Oslo' },
  },
  {
    name: 'huaxia-media',
    profile: {
      display_name: '华夏影视',
      legal_name: '华夏影视传媒有限公司',
      address: '静安区南京西路 1266 号\n上海 200040\n中国',
      tax_id: '91310106MA1FY5K21X',
      email: 'caiwu@huaxia.example',
      contact: '陈晓雯',
    },
    zone: 'Asia/Shanghai',
    perDay: 19,
    weekend: 0.6,
    growth: 1.2,
    uses: [
      { model: 'qwen3-max', weight: 8, size: documents },
      { model: 'deepseek-v3.2', weight: 6, size: agents },
      { model: 'wan-2.5-i2v', weight: 0.3 },
      { model: 'qwen-image', weight: 0.3 },
    ],
    tokens: [
      { name: 'website', weight: 4 },
      { name: 'render-farm', weight: 3, team: 'vfx' },
    ],
    credit: 400,
  },
  {
    name: 'sakura-learning',
    profile: {
      display_name: 'さくらラーニング',
      legal_name: '株式会社さくらラーニング',
      address: '北区梅田 3-1-3\n大阪市 530-0001\n日本',
      tax_id: 'T5120001234567',
      email: 'keiri@sakura.example',
      contact: '山本 美咲',
    },
    zone: 'Asia/Tokyo',
    perDay: 16,
    weekend: 1.3,
    growth: 1.4,
    uses: [
      { model: 'gpt-5-mini', weight: 9, size: chat },
      { model: 'tts-hd', weight: 3 },
      { model: 'whisper-large-v3', weight: 3 },
      { model: 'omni-moderation', weight: 3 },
    ],
    tokens: [
      { name: 'tutor', weight: 7, budget: { amount: '12.00', per: 'day', zone: 'Asia/Tokyo' } },
      { name: 'dictation', weight: 3 },
    ],
    credit: 200,
  },
  {
    name: 'hanbit-soft',
    profile: {
      display_name: '한빛소프트',
      legal_name: '주식회사 한빛소프트',
      address: '강남구 테헤란로 152\n서울 06236\n대한민국',
      tax_id: '220-81-62517',
      email: 'billing@hanbit.example',
      contact: '김도윤',
    },
    zone: 'Asia/Seoul',
    perDay: 15,
    weekend: 0.3,
    growth: 1.8,
    since: 6,
    uses: [
      { model: 'claude-opus-4.5', weight: 5, size: agents },
      { model: 'claude-haiku-4.5', weight: 5, size: chat },
      { model: 'gpt-5.2', weight: 3, size: agents },
    ],
    tokens: [
      { name: 'ide', weight: 8, team: 'engineering' },
      { name: 'code-review', weight: 3, team: 'engineering' },
    ],
    credit: 1200,
    budget: { amount: '2500.00', per: 'month', zone: 'Asia/Seoul' },
    cached: 0.6,
  },
  {
    name: 'dnipro-media',
    profile: {
      display_name: 'Дніпро Медіа',
      legal_name: 'ТОВ «Дніпро Медіа»',
      address: 'вул. Хрещатик, 22\n01001 Київ\nУкраїна',
      tax_id: 'UA 3912 7740',
      email: 'office@dnipro.example',
      contact: 'Олена Ковальчук',
    },
    zone: 'Europe/Kyiv',
    perDay: 10,
    weekend: 0.8,
    growth: 1,
    uses: [
      { model: 'gemini-2.5-flash', weight: 6, size: documents },
      { model: 'mistral-large', weight: 3, size: chat },
      { model: 'text-embedding-3-large', weight: 2, size: [22_000, 0] },
    ],
    tokens: [{ name: 'newsroom', weight: 1 }],
    credit: 120,
  },
  {
    name: 'alnoor-tech',
    profile: {
      display_name: 'النور للتقنية',
      legal_name: 'شركة النور للتقنية ذ.م.م',
      address: 'شارع الشيخ زايد 114\nدبي\nالإمارات العربية المتحدة',
      tax_id: '100482917300003',
      email: 'finance@alnoor.example',
      contact: 'سارة المنصوري',
    },
    zone: 'Asia/Dubai',
    perDay: 12,
    weekend: 0.5,
    growth: 1.3,
    uses: [
      { model: 'gpt-4.1', weight: 5, size: documents },
      { model: 'gpt-4o-mini', weight: 5, size: short },
      { model: 'rerank-v3.5', weight: 3 },
    ],
    tokens: [
      { name: 'website', weight: 3 },
      { name: 'search', weight: 2 },
    ],
    credit: 60,
    balance_low: '20.00',
    isLate: true,
  },
  {
    name: 'kisan-mitra',
    profile: {
      display_name: 'किसान मित्र',
      legal_name: 'Kisan Mitra Services Pvt. Ltd.',
      address: '14, MG Road\nपुणे 411001\nभारत',
      tax_id: '27AAGCK4418M1Z2',
      email: 'accounts@kisan.example',
      contact: 'अनन्या देशमुख',
    },
    zone: 'Asia/Kolkata',
    perDay: 12,
    weekend: 1.1,
    growth: 2.2,
    since: 17,
    uses: [
      { model: 'gemini-2.5-flash-lite', weight: 8, size: chat },
      { model: 'llama-4-maverick', weight: 4, size: chat },
      { model: 'whisper-large-v3', weight: 3 },
      { model: 'bge-m3', weight: 2, size: [12_000, 0] },
    ],
    tokens: [{ name: 'helpline', weight: 1 }],
    credit: 80,
  },
  {
    name: 'meteora-travel',
    profile: {
      display_name: 'Μετέωρα Ταξίδια',
      legal_name: 'Μετέωρα Ταξίδια Α.Ε.',
      address: 'Ερμού 18\n105 63 Αθήνα\nΕλλάδα',
      tax_id: 'EL094327781',
      email: 'logistirio@meteora.example',
      contact: 'Νίκος Παπαδάκης',
    },
    zone: 'Europe/Athens',
    perDay: 7,
    weekend: 1.6,
    growth: 0.5,
    uses: [
      { model: 'gpt-5-nano', weight: 5, size: chat },
      { model: 'gemini-3-pro', weight: 3, size: chat },
    ],
    tokens: [{ name: 'planner', weight: 1 }],
    credit: 60,
  },
  {
    name: 'galil-health',
    profile: {
      display_name: 'גליל בריאות',
      legal_name: 'גליל בריאות דיגיטלית בע״מ',
      address: 'שדרות המגינים 53\nחיפה 3326511\nישראל',
      tax_id: '515884072',
      email: 'finance@galil.example',
      contact: 'יעל אברהם',
    },
    zone: 'Asia/Jerusalem',
    perDay: 7,
    weekend: 0.3,
    growth: 1.1,
    uses: [
      { model: 'claude-sonnet-4.5', weight: 5, size: documents },
      { model: 'text-embedding-3-small', weight: 3, size: [18_000, 0] },
    ],
    tokens: [{ name: 'records', weight: 1 }],
    credit: 250,
  },
  {
    name: 'atelier-lumiere',
    profile: {
      display_name: 'Atelier Lumière',
      legal_name: 'Atelier Lumière SARL',
      address: '12, rue des Tanneurs\n69001 Lyon\nFrance',
      tax_id: 'FR 40 487 551 213',
      email: 'compta@lumiere.example',
      contact: 'Zoé Lefèvre',
    },
    zone: 'Europe/Paris',
    perDay: 6,
    weekend: 0.2,
    growth: 1,
    uses: [
      { model: 'gpt-image-1', weight: 0.6 },
      { model: 'kling-2.5-t2v', weight: 0.4 },
      { model: 'mistral-large', weight: 4, size: chat },
    ],
    tokens: [{ name: 'studio', weight: 1 }],
    credit: 90,
  },
  {
    name: 'isar-stadtwerke',
    profile: {
      display_name: 'Isar Stadtwerke',
      legal_name: 'Isar Stadtwerke Digital GmbH',
      address: 'Lindwurmstraße 88\n80337 München\nDeutschland',
      tax_id: 'DE 284 119 630',
      email: 'rechnung@isar.example',
      contact: 'Jürgen Weiß',
    },
    zone: 'Europe/Berlin',
    perDay: 11,
    weekend: 0.1,
    growth: 1.2,
    uses: [
      { model: 'gpt-5.2', weight: 6, size: documents },
      { model: 'o4-mini', weight: 3, size: agents },
      { model: 'glm-4.6', weight: 1, size: chat },
    ],
    tokens: [
      { name: 'tenant-help', weight: 5, team: 'service' },
      {
        name: 'pilot',
        weight: 1,
        team: 'innovation',
        budget: { amount: '25.00', per: 'week', zone: 'Europe/Berlin' },
      },
    ],
    credit: 500,
    budget: { amount: '800.00', per: 'month', zone: 'Europe/Berlin' },
  },
  {
    name: 'initech-support',
    profile: {
      display_name: 'Initech Support',
      legal_name: 'Initech Support Inc.',
      address: '4120 Freidrich Lane\nAustin, TX 78744\nUSA',
      tax_id: '74-2991846',
      email: 'ap@initech.example',
      contact: 'Maria Gonzalez',
    },
    zone: 'America/Chicago',
    perDay: 21,
    weekend: 0.5,
    growth: 1.1,
    uses: [
      { model: 'gpt-5-mini', weight: 9, size: agents },
      { model: 'claude-haiku-4.5', weight: 5, size: agents },
      { model: 'kimi-k2', weight: 2, size: chat },
      { model: 'qwen-plus', weight: 2, size: chat },
      { model: 'text-embedding-3-small', weight: 4, size: [16_000, 0] },
    ],
    tokens: [
      { name: 'website', weight: 6, team: 'support' },
      { name: 'ticket-triage', weight: 4, team: 'support' },
      { name: 'batch-export', weight: 1, team: 'data' },
    ],
    credit: 300,
    cached: 0.4,
  },
]

/** Who signs in. A customer's people see their own account only. */
export const people = [
  { name: 'mara', role: 'administrator' },
  { name: 'finn', role: 'finance' },
  { name: 'olu', role: 'operator' },
  { name: 'ingrid', role: 'member', account: 'nordlys-studio' },
] as const
