// E-mail as a receiver of notices: which addresses there are, and which settings sending needs.

/** A plain address: no quotes, comments, control characters or line ends. */
export const emailPattern =
  /^(?=.{3,254}$)[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(?:\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+){0,16}@[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?){0,16}$/

const mailVariables = ['GATEWAY_SMTP_URL', 'GATEWAY_SMTP_FROM'] as const
export type MailVariable = (typeof mailVariables)[number]

/** Those that are not set; sending needs both. */
export const missingMailSettings = (
  get: (variable: MailVariable) => string | undefined,
): MailVariable[] => mailVariables.filter((variable) => (get(variable) ?? '') === '')
