import {describe, expect, it} from 'vitest';
import type {ModelProgress} from '../../src/core/contract/model.ts';
import {ModelError, type ModelErrorKind} from '../../src/core/util/errors.ts';
import {type ChainLink, Circuits, createFallbackModel} from '../../src/models/fallback.ts';
import {FakeClock} from '../core/fake-clock.ts';
import {ScriptedModel, type ScriptedReply, say} from '../core/scripted-model.ts';
import {hello} from './fixture.ts';

const fail = (kind: ModelErrorKind, retryAfterMs?: number): ScriptedReply => ({
  fail: new ModelError(kind, `it fails: ${kind}`, {
    retryable: false,
    ...(retryAfterMs !== undefined && {retryAfterMs}),
  }),
});

/** A chain of models, each with the replies that it gives; it gives the last one again and again. */
function chain(
  scripts: Readonly<Record<string, readonly ScriptedReply[]>>,
  onlyFor: Record<string, ModelErrorKind> = {},
) {
  const clock = new FakeClock();
  const circuits = new Circuits(clock);
  /** The models as they were asked, with the seconds that each may go on trying. */
  const asked: string[] = [];
  const progress: ModelProgress[] = [];
  const links = Object.entries(scripts).map(([key, script]): ChainLink => {
    const scripted = new ScriptedModel((_, index) => script[Math.min(index, script.length - 1)]!);
    const model = Object.assign(Object.create(scripted), {
      name: key,
      reply: (...[request, onProgress, seconds]: Parameters<ChainLink['model']['reply']>) => {
        asked.push(`${key} ${seconds}`);
        return scripted.reply(request, onProgress);
      },
    });
    return {key, model, ...(onlyFor[key] && {onlyFor: onlyFor[key]})};
  });
  const model = createFallbackModel(links, {circuits, maxWaitSeconds: 100});
  const ask = (signal = new AbortController().signal) =>
    model
      .reply(hello({signal}), (step) => void progress.push(step))
      .then(
        ({content}) => content.map((block) => (block.type === 'text' ? block.text : '')).join(),
        (error: unknown) => error,
      );
  /** Asks once. @returns the models that were asked */
  const askedBy = async () => {
    asked.length = 0;
    await ask();
    return asked.map((each) => each.split(' ')[0]).join(' ');
  };
  return {ask, asked, askedBy, clock, progress};
}

describe('a model with others to fall back on', () => {
  it.each(['billing', 'bad_request'] as const)(
    'fails with an error of the kind %s, and asks no other one',
    async (kind) => {
      const {ask, asked, progress} = chain({a: [fail(kind)], b: [say('instead')]});
      expect(await ask()).toMatchObject({kind});
      expect([asked, progress]).toEqual([['a 25'], []]);
      // Its next call is made: nothing says that it would fail.
      await ask();
      expect(asked).toEqual(['a 25', 'a 25']);
    },
  );

  it('gives way to the next after any other failure, and says so', async () => {
    const {ask, asked, progress} = chain({a: [fail('server')], b: [fail('overloaded')], c: [say('third')]});
    expect(await ask()).toBe('third');
    expect(asked).toEqual(['a 25', 'b 25', 'c 50']);
    expect(progress.filter(({type}) => type === 'retry')).toMatchObject([
      {reason: 'it fails: server', fallback: {from: 'a', to: 'b'}},
      {reason: 'it fails: overloaded', fallback: {from: 'b', to: 'c'}},
    ]);
  });

  it('gives the last of many no less time than those before it', async () => {
    const failing = [fail('server')];
    const {ask, asked} = chain({a: failing, b: failing, c: failing, d: failing, e: failing});
    await ask();
    expect(asked).toEqual(['a 25', 'b 25', 'c 25', 'd 25', 'e 25']);
  });

  it('leaves out those that failed a short while ago', async () => {
    const {askedBy, clock} = chain({a: [fail('server')], b: [fail('not_found')], c: [say('third')]});
    expect(await askedBy()).toBe('a b c');
    clock.advance(30_000);
    expect(await askedBy()).toBe('a c');
  });

  it('fails with the error of the last', async () => {
    const {ask, asked} = chain({a: [fail('server')], b: [fail('connection')]});
    expect(await ask()).toMatchObject({kind: 'connection'});
    expect(asked).toEqual(['a 25', 'b 75']);
  });

  it('asks no other one after it was aborted', async () => {
    const {ask, asked} = chain({a: [fail('server')], b: [say('instead')]});
    const abort = new AbortController();
    const answer = ask(abort.signal);
    abort.abort(new Error('enough'));
    expect(await answer).toMatchObject({message: 'enough'});
    expect(asked).toEqual(['a 25']);
  });

  it('is left alone for 30 s after a failure, twice as long after each further one, for 10 minutes at most', async () => {
    const {askedBy, clock} = chain({a: [fail('server')], b: [say('instead')]});
    for (const seconds of [30, 60, 120, 240, 480, 600, 600]) {
      expect(await askedBy()).toBe('a b');
      clock.advance(seconds * 1000 - 1);
      expect(await askedBy()).toBe('b');
      clock.advance(1);
    }
  });

  it('is left alone for 30 s again where it had answered meanwhile', async () => {
    const {askedBy, clock} = chain({
      a: [fail('server'), fail('server'), say('ok'), fail('server')],
      b: [say('instead')],
    });
    expect(await askedBy()).toBe('a b');
    clock.advance(30_000);
    expect(await askedBy()).toBe('a b');
    clock.advance(60_000);
    expect(await askedBy()).toBe('a');
    expect(await askedBy()).toBe('a b');
    clock.advance(30_000);
    expect(await askedBy()).toBe('a b');
  });

  it.each([
    ['10 minutes where a key or a name is wrong', fail('authentication'), 600],
    ['10 minutes where a model is not there', fail('not_found'), 600],
    ['as long as its server asks', fail('rate_limit', 90_000), 90],
    ['30 s where its server asks for less', fail('rate_limit', 5_000), 30],
  ])('is left alone for %s', async (_, failure, seconds) => {
    const {askedBy, clock} = chain({a: [failure], b: [say('instead')]});
    await askedBy();
    clock.advance(seconds * 1000 - 1);
    expect(await askedBy()).toBe('b');
    clock.advance(1);
    expect(await askedBy()).toBe('a b');
  });

  it('is asked again where all of them failed a short while ago', async () => {
    const {askedBy} = chain({a: [fail('server'), say('ok')], b: [fail('server')]});
    expect(await askedBy()).toBe('a b');
    expect(await askedBy()).toBe('a');
  });

  it('says that another one answers because it failed a short while ago', async () => {
    const {ask, progress} = chain({a: [fail('server')], b: [say('instead')]});
    await ask();
    progress.length = 0;
    await ask();
    expect(progress[0]).toMatchObject({reason: 'it failed a short while ago', fallback: {from: 'a', to: 'b'}});
  });

  it('with a stand-in for one kind of failure asks it after this kind alone, also in the calls after it', async () => {
    const standIn = {own: 'authentication'} as const;
    const refused = chain({a: [fail('authentication')], own: [say('mine')], b: [say('instead')]}, standIn);
    expect([await refused.askedBy(), await refused.askedBy()]).toEqual(['a own', 'own']);
    const down = chain({a: [fail('server')], own: [say('mine')], b: [say('instead')]}, standIn);
    expect([await down.askedBy(), await down.askedBy()]).toEqual(['a b', 'b']);
  });
});

describe('the price of a model with others to fall back on', () => {
  const priced = (...prices: (number | undefined)[]) =>
    createFallbackModel(
      prices.map((outputPrice, index) => ({
        key: `${index}`,
        model: Object.assign(new ScriptedModel([]), {name: `m${index}`, outputPrice}),
      })),
      {circuits: new Circuits(new FakeClock()), maxWaitSeconds: 1},
    );

  it('is the highest of all', () => {
    const {outputPrice, unpriced} = priced(2, 9, 3);
    expect([outputPrice, unpriced]).toEqual([9, undefined]);
  });

  it('is unknown where one of them has none, which is named', () => {
    const {outputPrice, unpriced} = priced(2, undefined, 3);
    expect([outputPrice, unpriced]).toEqual([undefined, 'm1']);
  });
});
