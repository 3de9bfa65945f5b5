// A token as the admin API shows it.
export interface Token {
  id: string
  account: string
  name: string
  prefix: string
  models: string[]
  limits: { rpm?: number; tpm?: number; concurrency?: number }
  allowed_ips: string[]
  expires_at: string | null
  disabled: boolean
  source: 'file' | 'api'
  created_at: string
}
