// Texts of accounts at clouds.
import { defineMessages } from '../../lib/i18n.ts'

export const cloudMessages = defineMessages({
  credential: ['Credentials', '凭证'],
  aws_account: ['Access key of an IAM user or role', 'IAM 用户或角色的访问密钥'],
  aws_keys: ['API key of Bedrock', 'Bedrock API 密钥'],
  google_account: ['Service account', '服务账号'],
  google_machine: ["The machine's own account", '本机所用的账号'],
  google_machine_hint: [
    'Tokens come from the metadata server of Google Cloud, where the gateway runs.',
    '令牌取自网关所在 Google Cloud 机器的元数据服务器。',
  ],
  once: [
    'Stored encrypted and never shown again. To keep it outside the database, declare the channel in gateway.yaml with a reference to a file.',
    '加密保存，不再显示。如不希望存入数据库，请在 gateway.yaml 中以文件引用的方式声明该渠道。',
  ],
  keep: [
    'Leave empty to keep the current account. A new one replaces all of it.',
    '留空则保留现有账号；填写后整体替换。',
  ],
  region: ['AWS region', 'AWS 区域'],
  region_hint: ['Of the host, such as eu-central-1.', '主机所在区域，例如 eu-central-1。'],
  access_key: ['Access key ID', '访问密钥 ID'],
  access_key_hint: [
    'It needs bedrock:InvokeModel and bedrock:InvokeModelWithResponseStream.',
    '需要 bedrock:InvokeModel 与 bedrock:InvokeModelWithResponseStream 权限。',
  ],
  secret_key: ['Secret access key', '访问密钥'],
  secret_key_hint: ['The secret that belongs to the ID.', '与该 ID 对应的密钥。'],
  session_token: ['Session token', '会话令牌'],
  session_token_hint: ['Only of temporary credentials.', '仅临时凭证需要。'],
  location: ['Vertex location', 'Vertex 位置'],
  location_hint: ['Such as europe-west1, or global.', '例如 europe-west1，或 global。'],
  project: ['Project ID', '项目 ID'],
  project_hint: ["Left empty, the service account's.", '留空则使用服务账号所属项目。'],
  service_account: ['Service account (JSON)', '服务账号（JSON）'],
  service_account_hint: [
    'The key file that Google Cloud gives out. The account needs the role Vertex AI User.',
    'Google Cloud 提供的密钥文件。账号需要 Vertex AI User 角色。',
  ],
  tenant: ['Tenant', '租户'],
  tenant_hint: ['ID or domain of the directory.', '目录的 ID 或域名。'],
  client_id: ['Application (client) ID', '应用程序（客户端）ID'],
  client_id_hint: [
    'The application needs the role Cognitive Services OpenAI User.',
    '应用程序需要 Cognitive Services OpenAI User 角色。',
  ],
  client_secret: ['Client secret', '客户端密码'],
  client_secret_hint: ['Its value, not its ID.', '填写密码的值，而非其 ID。'],
  authority: ['Authority', '颁发机构'],
  authority_hint: [
    'Where tokens come from. Leave empty unless it is a sovereign cloud.',
    '令牌来源；非主权云请留空。',
  ],
  bad_place: ['Small letters, digits and dashes only.', '只能使用小写字母、数字和连字符。'],
  bad_word: ['No spaces and no line breaks.', '不能包含空格或换行。'],
  bad_json: ['This is not JSON.', '不是有效的 JSON。'],
  bad_account: [
    'This is not a service account: it needs client_email and private_key.',
    '不是服务账号：需要 client_email 与 private_key。',
  ],
  no_project: ['It names no project: fill in the project ID.', '其中没有项目：请填写项目 ID。'],
})
