// Current weather of a few cities, from Open-Meteo.
const axios = require('axios');

const CITIES = [
  { name: 'Accra', latitude: 5.56, longitude: -0.2 },
  { name: 'Oslo', latitude: 59.91, longitude: 10.75 },
];

const client = axios.create({
  baseURL: 'https://api.open-meteo.com/v1',
  timeout: 5000,
  headers: { 'User-Agent': 'weather-board/1.0' },
});

client.interceptors.response.use(
  (response) => response,
  (error) => Promise.reject(new Error(`weather service: ${error.response?.status ?? error.code}`)),
);

async function current({ latitude, longitude }) {
  const { data } = await client.get('/forecast', {
    params: { latitude, longitude, current_weather: true },
  });
  return data.current_weather;
}

(async () => {
  for (const city of CITIES) {
    const { temperature, windspeed } = await current(city);
    console.log(`${city.name}: ${temperature} °C, wind ${windspeed} km/h`);
  }
})().catch((error) => {
  console.error(error.message);
  process.exit(1);
});
