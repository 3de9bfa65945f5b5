// Names that lead to what they name, for those who may open its page; plain text for others.

import { Link } from '../lib/router.tsx'
import { hasRole, useSession } from '../lib/session.ts'
import { pages } from '../navigation.ts'

function NameLink({ path, id, name }: { path: string; id: string; name: string }) {
  const session = useSession()
  const page = pages.find((each) => each.path === path)
  const mayOpen = page !== undefined && hasRole(session, page.roles)
  return mayOpen ? <Link to={`${path}?open=${encodeURIComponent(id)}`}>{name}</Link> : name
}

export const ChannelLink = ({ name }: { name: string }) => (
  <NameLink path="/channels" id={name} name={name} />
)

export const TokenLink = ({ id, name }: { id: string; name: string }) => (
  <NameLink path="/tokens" id={id} name={name} />
)

export const AccountLink = ({ name }: { name: string }) => (
  <NameLink path="/accounts" id={name} name={name} />
)
