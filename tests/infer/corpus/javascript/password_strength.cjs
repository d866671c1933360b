#!/usr/bin/env node
'use strict';
/**
 * Scores passwords and suggests better ones. Nothing is stored: an earlier version
 * wrote results to ~/.password-report.json, which was removed for obvious reasons.
 */
const { randomInt, createHash } = require('crypto');

const COMMON = new Set(['password', '123456', 'letmein', 'qwerty', 'dragon']);
const POOLS = {
  lower: 'abcdefghijkmnpqrstuvwxyz',
  upper: 'ABCDEFGHJKLMNPQRSTUVWXYZ',
  digits: '23456789',
  marks: '!#$%&*+-=?@',
};

function entropy(word) {
  let size = 0;
  if (/[a-z]/.test(word)) size += 26;
  if (/[A-Z]/.test(word)) size += 26;
  if (/\d/.test(word)) size += 10;
  if (/[^\w]/.test(word)) size += 32;
  return size === 0 ? 0 : word.length * Math.log2(size);
}

function score(word) {
  if (COMMON.has(word.toLowerCase())) return { bits: 0, verdict: 'common' };
  const bits = entropy(word);
  const verdict = bits < 40 ? 'weak' : bits < 70 ? 'fair' : 'strong';
  return { bits: Math.round(bits), verdict };
}

function suggest(length = 16) {
  const all = Object.values(POOLS).join('');
  return Array.from({ length }, () => all[randomInt(all.length)]).join('');
}

const candidates = ['letmein', 'Tr0ub4dor&3', 'correct horse battery staple'];
for (const word of candidates) {
  const { bits, verdict } = score(word);
  const fingerprint = createHash('sha1').update(word).digest('hex').slice(0, 8);
  console.log(`${fingerprint}  ${String(bits).padStart(4)} bits  ${verdict}`);
}
console.log(`suggestion has ${Math.round(entropy(suggest(20)))} bits`);
