// Accounts at clouds for gateway channel create: secrets come from files and from the variables that the tools of
// each cloud use, so that they stay out of the shell's history.
import type { Context, Env, Flags } from '../../terminal/command.ts'
import type { Row } from '../../terminal/show.ts'
import { misuse } from '../../terminal/stop.ts'
import { readText } from '../prices.ts'

export const cloudFlags: Flags = {
  'aws-region': {
    value: 'REGION',
    summary:
      'with the account in AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and, if set, AWS_SESSION_TOKEN',
  },
  'google-file': { value: 'FILE', summary: 'JSON of a service account at Google Cloud' },
  'google-machine': { summary: 'with the account at Google Cloud that the gateway runs as' },
  'vertex-location': { value: 'LOCATION', summary: 'of Vertex AI, such as europe-west1 or global' },
  'vertex-project': { value: 'PROJECT', summary: "left out, the service account's" },
  'azure-tenant': {
    value: 'TENANT',
    summary: 'with the application in AZURE_CLIENT_ID and AZURE_CLIENT_SECRET',
  },
}

/** Empty without such flags. */
export function cloudOf({ line, env }: Context): Row {
  const region = line.text('aws-region')
  const file = line.text('google-file')
  const tenant = line.text('azure-tenant')
  const auth = {
    ...(region !== undefined && { aws: awsOf(region, env) }),
    ...(file !== undefined && { google: { service_account: readText(file) } }),
    ...(line.on('google-machine') && { google: {} }),
    ...(tenant !== undefined && {
      azure: {
        tenant,
        client_id: variable(env, 'azure-tenant', 'AZURE_CLIENT_ID'),
        client_secret: variable(env, 'azure-tenant', 'AZURE_CLIENT_SECRET'),
      },
    }),
  }
  const [location, project] = [line.text('vertex-location'), line.text('vertex-project')]
  if (project !== undefined && location === undefined) {
    throw misuse('--vertex-project needs --vertex-location')
  }
  return {
    ...(Object.keys(auth).length > 0 && { auth }),
    ...(location !== undefined && {
      vertex: { location, ...(project !== undefined && { project }) },
    }),
  }
}

function awsOf(region: string, env: Env): Row {
  const session_token = env['AWS_SESSION_TOKEN']
  return {
    region,
    access_key: variable(env, 'aws-region', 'AWS_ACCESS_KEY_ID'),
    secret_key: variable(env, 'aws-region', 'AWS_SECRET_ACCESS_KEY'),
    ...(session_token && { session_token }),
  }
}

function variable(env: Env, flag: string, name: string): string {
  const value = env[name]
  if (!value) throw misuse(`--${flag}: the variable ${name} is not set`)
  return value
}
