'use strict';

// Formats amounts of money.
function formatAmount(cents, currency = 'EUR') {
  return `${(cents / 100).toFixed(2)} ${currency}`;
}

module.exports = { formatAmount };
