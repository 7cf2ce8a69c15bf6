import assert from 'node:assert/strict';
import {addTax, total} from './shop.mjs';

assert.equal(addTax(1000, 20), 1200);
assert.equal(total([1000, 500], 10), 1650);
