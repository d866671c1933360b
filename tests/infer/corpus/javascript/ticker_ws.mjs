// Follows a price for a minute and prints its range.
import WebSocket from 'ws';

const SYMBOL = 'btcusdt';
const FEED = `wss://stream.binance.com:9443/ws/${SYMBOL}@trade`;
const DURATION = 60_000;

const socket = new WebSocket(FEED, { handshakeTimeout: 5000 });
let low = Infinity;
let high = -Infinity;
let trades = 0;

socket.on('open', () => {
  console.log(`connected to ${new URL(FEED).host}`);
  setTimeout(() => socket.close(1000), DURATION);
});
socket.on('message', (data) => {
  const { p } = JSON.parse(data.toString());
  low = Math.min(low, Number(p));
  high = Math.max(high, Number(p));
  trades += 1;
});
socket.on('close', () => console.log(`${trades} trades between ${low} and ${high}`));
socket.on('error', (error) => {
  console.error(error.message);
  process.exitCode = 1;
});
