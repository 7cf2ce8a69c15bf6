import {describe, expect, it} from 'vitest';
import type {Model} from '../../src/core/contract/model.ts';
import {UsageError} from '../../src/core/util/errors.ts';
import {ModelChooser} from '../../src/models/choose.ts';
import type {ModelResolver} from '../../src/models/resolve.ts';

type ModelChoice = NonNullable<Parameters<ModelResolver['resolve']>[1]>;
type ChoiceSettings = ConstructorParameters<typeof ModelChooser>[1];
type ModelUser = Parameters<ModelChooser['choose']>[0];
type Role = NonNullable<Parameters<ModelChooser['choose']>[1]>;

const ENV = {OWN: 'k', MAIN_KEY: 'k', OTHER_KEY: 'k', EMPTY: ' '};

/** Chooses with a resolver that knows every model whose name does not begin with `bad`. */
function choose(agent: Partial<ModelUser>, asked: Role = {}, settings: ChoiceSettings = {}, main: Partial<Model> = {}) {
  const session = {name: 'main', offline: false, ...main} as Model;
  const resolver = {
    resolve(name: string, choice?: ModelChoice) {
      if (name === 'broken') throw new Error('broken');
      if (name.startsWith('bad')) throw new UsageError(`no ${name}`);
      return {name, source: {provider: 'near'}, choice} as unknown as Model;
    },
    providers: {findOwner: (key: string) => ({MAIN_KEY: 'near', OTHER_KEY: 'far'})[key]},
  } as unknown as ModelResolver;
  const chooser = new ModelChooser(resolver, settings, () => session, ENV);
  const {model, warnings} = chooser.choose({name: 'coder', ...agent}, asked);
  const {choice = {}} = model as {choice?: ModelChoice};
  return {name: model.name, keyEnv: choice.keyEnv, thinking: choice.thinking, warnings, isMain: model === session};
}

describe('the role of an agent', () => {
  it.each([
    ['coder', {coder: {model: 'a'}, code: {model: 'b'}, default: {model: 'c'}}, 'a'],
    ['coder', {code: {model: 'b'}, default: {model: 'c'}}, 'b'],
    ['debugger', {code: {model: 'b'}}, 'b'],
    ['architect', {plan: {model: 'b'}}, 'b'],
    ['reviewer', {'code-review': {model: 'b'}}, 'b'],
    ['doc-reader', {explore: {model: 'b'}}, 'b'],
    ['code-explore', {explore: {model: 'b'}}, 'b'],
    ['other', {code: {model: 'b'}, default: {model: 'c'}}, 'c'],
    ['other', {code: {model: 'b'}}, undefined],
    ['toString', {}, undefined],
  ])('%s in %j is %s', (name, roles: Record<string, Role>, model) => {
    expect(choose({name}, {}, {roles}).name).toBe(model ?? 'main');
  });
});

describe('the model of a run', () => {
  const settings = {roles: {code: {model: 'by-role', thinking: 'low'}}, subagentModel: 'by-settings'} as const;

  it.each<[string, Partial<ModelUser>, Role, ChoiceSettings, string]>([
    ['its call', {model: 'by-agent'}, {model: 'by-call'}, settings, 'by-call'],
    ['its agent', {model: 'by-agent'}, {}, settings, 'by-agent'],
    ['its role', {}, {}, settings, 'by-role'],
    ['the settings', {name: 'other'}, {}, settings, 'by-settings'],
    ['the session', {}, {}, {}, 'main'],
    ['the session, where that is said', {model: ' Inherit '}, {}, settings, 'main'],
  ])('is said by %s', (_, agent, asked, given, name) => {
    expect(choose(agent, asked, given)).toMatchObject({name, warnings: []});
  });

  it('is the next one where a name cannot be used, with a warning', () => {
    expect(choose({model: 'bad-agent'}, {model: 'bad-call'}, settings)).toMatchObject({
      ...{
        name: 'by-role',
        warnings: ['no bad-call. by-role answered instead', 'no bad-agent. by-role answered instead'],
      },
    });
    const agents = {coder: {model: 'by-override'}};
    expect(choose({model: 'bad'}, {}, {...settings, agents})).toMatchObject({
      ...{name: 'by-override', warnings: ['no bad. by-override answered instead']},
    });
    expect(choose({model: 'bad'}, {}, {agents: {coder: {model: 'bad'}}})).toMatchObject({
      ...{name: 'main', warnings: ['no bad. main answered instead']},
    });
    expect(choose({model: 'bad'})).toMatchObject({isMain: true, warnings: ['no bad. main answered instead']});
    expect(() => choose({model: 'broken'})).toThrow('broken');
  });

  it('thinks as its call says, else its agent, its role, the session', () => {
    const high = {thinking: 'high'} as const;
    expect(choose({thinking: 'medium'}, high, settings).thinking).toBe('high');
    expect(choose({thinking: 'medium'}, {}, settings).thinking).toBe('medium');
    expect(choose({}, {}, settings).thinking).toBe('low');
    expect(choose({}, high)).toMatchObject({name: 'main', thinking: 'high', isMain: false});
    expect(choose({apiKeyEnv: 'OWN'}, {}, {}, {thinking: 'medium'})).toMatchObject({thinking: 'medium', keyEnv: 'OWN'});
    expect(choose({apiKeyEnv: 'OWN'}, high, {}, {offline: true})).toMatchObject({isMain: true});
  });

  it.each([
    ['OWN', 'OWN', []],
    ['MAIN_KEY', undefined, []],
    ['OTHER_KEY', undefined, [': OTHER_KEY is the key of far, and m is a model of near']],
    ['EMPTY', undefined, [': EMPTY is not set or empty']],
    ['MISSING', undefined, [': MISSING is not set or empty']],
  ])('has the own key %s of its agent where it fits the server', (apiKeyEnv, keyEnv, problems) => {
    expect(choose({apiKeyEnv, model: 'm'})).toMatchObject({
      ...{keyEnv, warnings: problems.map((text) => `the agent coder works with the key of its provider${text}`)},
    });
  });
});
