#!/bin/sh
# The price of a bitcoin.
node --input-type=module -e '
const currency = "EUR";
try {
  const reply = await fetch(`https://api.coinbase.com/v2/prices/BTC-${currency}/spot`);
  const { data } = await reply.json();
  console.log(data.amount);
} catch (error) {
  console.error(error.message);
  process.exit(1);
}
'
