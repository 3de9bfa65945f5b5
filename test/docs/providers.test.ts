import { expect, test } from 'bun:test'
import { pageOf, providerPage } from '../../scripts/provider-pages.ts'
import { presetGroups } from '../../src/contract/config-schema/preset.ts'
import { textOf } from '../support/docs/pages.ts'

test.each([...presetGroups])('the page of the group %s says what its presets say', (group) => {
  expect(textOf(pageOf(group))).toBe(providerPage(group))
})
