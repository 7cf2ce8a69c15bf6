import {expect, it} from 'vitest';
import {ALL_TOOLS} from '../../src/compose/known-tools.ts';
import {mergeLayers, toTree} from '../../src/config/layers.ts';

const user = {layer: 'user', file: '/u'} as const;
const local = {layer: 'local', file: '/l'} as const;

it('a provider is replaced as a whole: the address of one file never gets the key of another', () => {
  const leaves = mergeLayers(
    [
      {
        ...user,
        isProjects: false,
        values: {providers: {a: {baseURL: 'http://good', apiKeyEnv: 'KEY'}, b: {baseURL: 'http://b'}}},
      },
      {...local, isProjects: true, values: {providers: {a: {baseURL: 'http://other'}}}},
    ],
    ALL_TOOLS,
  );
  expect(toTree(leaves)).toEqual({providers: {a: {baseURL: 'http://other'}, b: {baseURL: 'http://b'}}});
  expect(leaves.map(({path, from}) => [path.join('.'), from[0]?.layer])).toEqual([
    ['providers.a', 'local'],
    ['providers.b', 'user'],
  ]);
});

it('lists are replaced, but rules add up and name each of their files', () => {
  const leaves = mergeLayers(
    [
      {...user, isProjects: false, values: {fallback: ['a'], permissions: {deny: ['x', 'y']}}},
      {...local, isProjects: true, values: {fallback: ['b'], permissions: {deny: ['y', 'z']}}},
    ],
    ALL_TOOLS,
  );
  expect(toTree(leaves)).toEqual({fallback: ['b'], permissions: {deny: ['x', 'y', 'z']}});
  expect(leaves.at(-1)?.from).toEqual([user, local]);
});

it('lists of what subagents may use are narrowed by a project, never widened', () => {
  const merge = (own: unknown, projects: unknown) => {
    const leaves = mergeLayers(
      [
        {...user, isProjects: false, values: {subagents: own}},
        {...local, isProjects: true, values: {subagents: projects}},
      ],
      ALL_TOOLS,
    );
    return toTree(leaves).subagents;
  };
  expect(merge({allowAgents: ['explore', 'plan']}, {allowAgents: ['plan', 'code']})).toEqual({allowAgents: ['plan']});
  expect(merge({allowAgents: ['explore']}, {allowAgents: ['*']})).toEqual({allowAgents: ['explore']});
  expect(merge({allowAgents: ['*']}, {allowAgents: ['code']})).toEqual({allowAgents: ['code']});
  expect(merge({}, {allowAgents: ['code']})).toEqual({allowAgents: ['code']});
  expect(merge({tools: {allow: ['read_file']}}, {tools: {allow: ['Read', 'bash']}})).toEqual({
    tools: {allow: ['read_file']},
  });
});
