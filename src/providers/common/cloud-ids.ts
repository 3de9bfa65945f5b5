// Ids of accounts and projects that clouds write into their errors, also those that no channel has: numbers
// of projects, principals, resources.

const guid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}'
const arn = /\barn:aws[\w-]*:[\w:/.@+=,*-]+/g
const projectPath = /\bprojects\/[\w:.-]+/g
/** `project 123456789`, `project_number:123456789`, `project "my-project"` */
const projectId = /\b(project(?:[_ ](?:number|id))?)(\s*[:=]\s*|\s+)(?:\d{6,}|["'`][\w:.-]+["'`])/g
const principal = new RegExp(
  `\\b(principal|tenant|client|subscriptions?|application|app|object|identity|oid|appid)([^.\\n]{0,24}?)${guid}`,
  'gi',
)

export const withoutIds = (text: string): string =>
  text
    .replaceAll(arn, 'a resource')
    .replaceAll(projectPath, 'projects/…')
    .replaceAll(projectId, '$1$2…')
    .replaceAll(principal, '$1$2…')
