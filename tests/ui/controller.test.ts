/** What the controller does between the keys and the session. */
import {expect, onTestFinished, test} from 'vitest';
import {Controller} from '../../src/ui/controller.ts';
import {pause, until} from '../support/wait.ts';

test('what shows answers loads while a prompt is typed, and not at an empty prompt', async () => {
  const controller = new Controller({onLeave: () => undefined, onRepaint: () => undefined});
  onTestFinished(() => controller.leave(0));
  const isLoaded = () => controller.local.get().formatter !== undefined;
  const {editor} = controller.local.get();
  controller.change({editor});
  await pause(300, 'it would be loaded after 100 ms');
  expect(isLoaded()).toBe(false);
  controller.change({editor: {...editor, text: 'w', cursor: 1}});
  await until(isLoaded, 'the formatter is loaded');
});
