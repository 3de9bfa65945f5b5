import { expect, test } from 'bun:test'
import { loadRoutes, partOf } from './load-routes.ts'
import type { AdminRoute } from './route.ts'
import { adminRoutes } from './routes.ts'

const keyOf = ({ method, path }: AdminRoute) => `${method} ${path}`

test('each part loads every route of its paths, in the order of the whole list', async () => {
  for (const part of new Set(adminRoutes.map(({ path }) => path.split('/')[1]!))) {
    expect(partOf(`/${part}/x`)).toBe(part)
    const isOfPart = (route: AdminRoute) => partOf(route.path) === part
    const loaded = (await loadRoutes(part)).filter(isOfPart)
    expect(loaded.map(keyOf)).toEqual(adminRoutes.filter(isOfPart).map(keyOf))
  }
})

test('a part that there is not has no routes', async () => {
  for (const path of ['', '/', '/nothing/tokens', '/constructor', '//tokens']) {
    expect(partOf(path)).toBe('')
  }
  expect(await loadRoutes('')).toEqual([])
})
