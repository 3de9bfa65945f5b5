// How clouds say what is wrong with an account: the first row that fits. Their own words name accounts and
// projects, so they are not repeated.
import type { CloudCredential } from '../../contract/catalog.ts'

/** Status 0: there was no token, and `words` say why. */
export interface Answer {
  status: number
  words: string
  /** How far this machine's clock is ahead of theirs. */
  skewMs?: number | undefined
}

export interface Sign {
  statuses?: readonly number[]
  words?: RegExp
  /** `{status}` and, of what this gateway says itself, `{words}`. */
  says: string
  advice: string
  /** Of one model, and not of all. */
  of?: 'model'
  /** It may be better the next time. */
  isPassing?: true
  /** A wrong clock explains it. */
  isSkew?: true
}

export interface Cloud {
  title: string
  credential: string
  /** By this machine's clock. */
  signed: boolean
  signs: readonly Sign[]
}

const failing = (title: string): Sign => ({
  statuses: [500, 502, 503, 504, 529],
  says: `${title} answers {status}`,
  advice: `ask again later, or ask ${title}`,
  isPassing: true,
})

const unknownAtAws: Sign = {
  says: 'AWS has no such model in this region',
  advice: 'correct its name upstream, or the region',
  of: 'model',
}

const awsSigns: readonly Sign[] = [
  {
    words: /valid region/i,
    says: 'AWS says that the region is not that of the host',
    advice: 'give auth.aws.region and the address the same region',
  },
  {
    words: /ExpiredToken/,
    says: 'the session token has expired',
    advice: 'put new temporary credentials into it',
  },
  {
    statuses: [403],
    words: /AccessDenied/,
    says: 'the role may not invoke this model',
    advice:
      'allow bedrock:InvokeModel and bedrock:InvokeModelWithResponseStream on it, and request access to the model',
    of: 'model',
  },
  {
    statuses: [401, 403],
    says: 'AWS refuses the access key ({status})',
    advice: 'put the right access key and secret into the channel',
  },
  { words: /model identifier is invalid/i, ...unknownAtAws },
  { statuses: [404], ...unknownAtAws },
  failing('AWS'),
]

/** What the token endpoint of either said, in this gateway's own words. */
const noToken: Sign = {
  statuses: [0],
  says: '{words}',
  advice: 'put the right account into the channel, and check that its host can be reached',
}

const googleSigns: readonly Sign[] = [
  {
    statuses: [0],
    words: /by the clock/,
    says: 'Google refuses what the service account has signed, by the clock of this machine',
    advice: 'let NTP set the clock: timedatectl set-ntp true',
    isSkew: true,
  },
  {
    statuses: [0],
    words: /no longer/,
    says: 'the key of the service account is no longer valid, or the account is gone',
    advice: 'make a new key for it and put its JSON into the channel',
  },
  noToken,
  {
    words: /SERVICE_DISABLED|has not been used in project|it is disabled/i,
    says: 'the Vertex AI API is not enabled in this project',
    advice: 'gcloud services enable aiplatform.googleapis.com, or correct vertex.project',
  },
  {
    words:
      /CONSUMER_INVALID|USER_PROJECT_DENIED|resource project|project .{0,80}(?:deleted|not found)/i,
    says: 'the project does not exist, or the account may not use it',
    advice: 'correct vertex.project, or give the account a role there',
  },
  {
    statuses: [403],
    says: 'the role may not invoke this model',
    advice:
      'give the account roles/aiplatform.user in the project, and enable the model in Model Garden',
    of: 'model',
  },
  {
    statuses: [401],
    says: 'Google refuses the token of the account (401)',
    advice: 'put the right service account into the channel',
  },
  {
    words: /not servable|not available in|unsupported (?:region|location)/i,
    says: 'it is not served at this location',
    advice: 'correct vertex.location, or use global',
    of: 'model',
  },
  {
    statuses: [404],
    says: 'Google has no such model at this location, or the project may not see it',
    advice: 'correct its name upstream, the location or the project',
    of: 'model',
  },
  failing('Google'),
]

const azureSigns: readonly Sign[] = [
  {
    statuses: [0],
    words: /AADSTS(?:90002|900023|900021)\b/,
    says: 'there is no such tenant',
    advice: 'correct auth.azure.tenant: the id or a domain of the directory',
  },
  {
    statuses: [0],
    words: /AADSTS700016\b/,
    says: 'the tenant has no such application',
    advice: 'correct auth.azure.client_id, or the tenant',
  },
  {
    statuses: [0],
    words: /AADSTS7000222\b/,
    says: 'the client secret has expired',
    advice: 'make a new secret for the application and put it into the channel',
  },
  {
    statuses: [0],
    words: /AADSTS7000215\b/,
    says: 'the client secret is wrong',
    advice: 'put the value of the secret into the channel, not its id',
  },
  noToken,
  {
    words: /tenant .{0,60}does not match/i,
    says: 'the application is of another tenant than the resource',
    advice: 'correct auth.azure.tenant, or use an application of the tenant of the resource',
  },
  {
    statuses: [401, 403],
    words: /PermissionDenied|data ?action/i,
    says: 'the role may not invoke this model',
    advice: 'give the application the role Cognitive Services OpenAI User on the resource',
    of: 'model',
  },
  {
    statuses: [403],
    words: /virtual network|firewall/i,
    says: 'the firewall of the resource refuses this machine',
    advice: 'allow its address in the networking of the resource',
  },
  {
    statuses: [401, 403],
    says: 'Azure refuses the token of the application ({status})',
    advice: 'check that the address is that of your resource',
  },
  {
    words: /DeploymentNotFound|deployment .{0,80}does not exist/i,
    says: 'the resource has no such deployment',
    advice: 'correct its name upstream: that of the deployment',
    of: 'model',
  },
  {
    statuses: [404],
    says: 'Azure has no resource at this address (404)',
    advice: 'correct base_url: https://RESOURCE.openai.azure.com/openai/v1',
  },
  failing('Azure'),
]

export const cloudsByKind: Readonly<Record<CloudCredential['kind'], Cloud>> = {
  aws: { title: 'AWS', credential: 'the access key', signed: true, signs: awsSigns },
  google: { title: 'Google', credential: 'the account', signed: true, signs: googleSigns },
  azure: { title: 'Azure', credential: 'the application', signed: false, signs: azureSigns },
}
