import {expect, it} from 'vitest';
import {mergeLayers, toTree} from '../../src/config/layers.ts';

const user = {layer: 'user', file: '/u'} as const;
const local = {layer: 'local', file: '/l'} as const;

it('a provider is replaced as a whole: the address of one file never gets the key of another', () => {
  const leaves = mergeLayers([
    {...user, values: {providers: {a: {baseURL: 'http://good', apiKeyEnv: 'KEY'}, b: {baseURL: 'http://b'}}}},
    {...local, values: {providers: {a: {baseURL: 'http://other'}}}},
  ]);
  expect(toTree(leaves)).toEqual({providers: {a: {baseURL: 'http://other'}, b: {baseURL: 'http://b'}}});
  expect(leaves.map(({path, from}) => [path.join('.'), from[0]?.layer])).toEqual([
    ['providers.a', 'local'],
    ['providers.b', 'user'],
  ]);
});

it('lists are replaced, but rules add up and name each of their files', () => {
  const leaves = mergeLayers([
    {...user, values: {fallback: ['a'], permissions: {deny: ['x', 'y']}}},
    {...local, values: {fallback: ['b'], permissions: {deny: ['y', 'z']}}},
  ]);
  expect(toTree(leaves)).toEqual({fallback: ['b'], permissions: {deny: ['x', 'y', 'z']}});
  expect(leaves.at(-1)?.from).toEqual([user, local]);
});
